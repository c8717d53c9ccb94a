// Checkpoints of audit trails: signed statements that a team's chain of hashes had a certain end. Whoever rewrites a chain,
// or cuts its end off, cannot make them anew.

export interface Checkpoint {
  teamId: string
  seq: number
  /** Hex: the hash of that entry. */
  hash: string
  /** ISO 8601, UTC, with milliseconds. */
  at: string
  keyId: string
  /** Base64 of the Ed25519 signature over `checkpointText`. */
  signature: string
}

/** The text that is signed: RFC 8785 JSON. */
export const checkpointText = ({ at, hash, seq, teamId }: Omit<Checkpoint, 'keyId' | 'signature'>): string =>
  `{"at":${JSON.stringify(at)},"hash":${JSON.stringify(hash)},"seq":${seq},"team_id":${JSON.stringify(teamId)}}`

/** A line of the file outside the database, without its end. */
export const checkpointLine = ({ teamId, seq, hash, at, keyId, signature }: Checkpoint): string =>
  JSON.stringify({ team_id: teamId, seq, hash, at, key_id: keyId, signature })

/** What a line of that file says; `null` when it is none. */
export function readCheckpointLine(line: string): Checkpoint | null {
  let value: Record<string, unknown> | null
  try {
    value = JSON.parse(line) as Record<string, unknown> | null
  } catch {
    return null
  }
  const { team_id: teamId, seq, hash, at, key_id: keyId, signature } = value ?? {}
  const strings = [teamId, hash, at, keyId, signature]
  if (!Number.isSafeInteger(seq) || !strings.every((part) => typeof part === 'string')) return null
  return { teamId, seq, hash, at, keyId, signature } as Checkpoint
}
