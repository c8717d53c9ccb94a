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

/** What is outside the database. */
export interface KeptCheckpoints {
  /** By team, without duplicates. */
  byTeam: Map<string, Checkpoint[]>
  /** Numbers of the lines or objects without a checkpoint, such as a line that a crash cut off. */
  unreadable: number[]
}

/** The text that is signed: RFC 8785 JSON. */
export const checkpointText = ({ at, hash, seq, teamId }: Omit<Checkpoint, 'keyId' | 'signature'>): string =>
  `{"at":${JSON.stringify(at)},"hash":${JSON.stringify(hash)},"seq":${seq},"team_id":${JSON.stringify(teamId)}}`

/**
 * The name of a checkpoint in the content store: all of it, so that a list of names is a list of checkpoints. Names sort by team
 * and entry, and no part between two slashes has more than 255 characters.
 */
export function checkpointKey({ teamId, seq, hash, at, keyId, signature }: Checkpoint): string {
  const parts = [
    String(seq).padStart(SEQ_DIGITS, '0'),
    at.replace(/[-:.]/g, ''),
    hash,
    keyId,
    Buffer.from(signature, 'base64').toString('base64url')
  ]
  return `${teamId}/${parts.join('.')}`
}

const SEQ_DIGITS = 12
const keyShape =
  /^([0-9a-f-]{36})\/(\d{12})\.(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.([0-9a-f]{64})\.([0-9a-f]{16})\.([\w-]+)$/

/** Parses such a name; `null` when it is not one of a checkpoint. */
export function readCheckpointKey(key: string): Checkpoint | null {
  const [name, teamId, seq, year, month, day, hour, minute, second, ms, hash, keyId, signature] =
    keyShape.exec(key) ?? []
  if (name === undefined) return null
  return {
    teamId: teamId!,
    seq: Number(seq),
    hash: hash!,
    at: `${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`,
    keyId: keyId!,
    signature: Buffer.from(signature!, 'base64url').toString('base64')
  }
}

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
