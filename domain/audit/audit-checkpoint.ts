// Checkpoints of audit trails: signed statements of the last entry of a team's chain at a time. Rewriting or truncating
// the chain contradicts them, and new ones cannot be signed without the key.

export interface Checkpoint {
  teamId: string
  seq: number
  /** Hex hash of the entry with this `seq`. */
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

/** One line of the checkpoint file outside the database, without its line end. */
export const checkpointLine = ({ teamId, seq, hash, at, keyId, signature }: Checkpoint): string =>
  JSON.stringify({ team_id: teamId, seq, hash, at, key_id: keyId, signature })

/** Parses one line of that file; `null` when the line is not a checkpoint. */
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
