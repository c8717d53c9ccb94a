// How long a sealed capsule has to be kept.

/** The end of its retention, as many calendar years (UTC) after the seal; `null` when none was asked for. */
export function retainedUntil(sealedAt: Date, retentionYears: number | null): Date | null {
  if (retentionYears === null) return null
  const end = new Date(sealedAt)
  end.setUTCFullYear(end.getUTCFullYear() + retentionYears)
  return end
}
