// How long a sealed capsule must be retained.

/** The end of the retention, that many calendar years (UTC) after the seal; `null` when none was requested. */
export function retainedUntil(sealedAt: Date, retentionYears: number | null): Date | null {
  if (retentionYears === null) return null
  const end = new Date(sealedAt)
  end.setUTCFullYear(end.getUTCFullYear() + retentionYears)
  return end
}
