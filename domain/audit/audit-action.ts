// The audit trail of a team: what its entries say, and the text of an entry that is hashed.

export const auditActions = [
  'capsule.created',
  'capsule.updated',
  'capsule.deleted',
  'capsule.sealed',
  'capsule.published',
  'capsule.archived',
  'capsule.cloned',
  'capsule.imported',
  'capsule.run',
  'capsule.verified',
  'capsule.schedule.changed',
  'capsule.schedule.deleted',
  'capsule.takedown'
] as const
export type AuditAction = (typeof auditActions)[number]

/** What the first entry of a chain has before it. */
export const NO_HASH = '0'.repeat(64)

/** An entry as it is hashed. */
export interface AuditEntry {
  /** From 1, without gaps. */
  seq: number
  teamId: string
  capsuleId: string | null
  action: string
  /** `user:<id>`, `key:<id>`, `admin:<id>` or `system`. */
  actor: string
  /** ISO 8601, UTC, with milliseconds. */
  at: string
  previousState: string | null
  newState: string | null
  /** RFC 8785 text of a JSON object. */
  metadata: string
}

/** An entry in its chain; both hashes are hex SHA-256. */
export interface ChainedEntry extends AuditEntry {
  prevHash: string
  hash: string
}

/** Where a trail is broken: the first entry that is not as it was written, or is not there. */
export interface AuditFault {
  seq: number
  reason: string
}

/**
 * The RFC 8785 form of an entry: its names in their order, its metadata as they are written. Put together here, so that a
 * change of a single byte of what is stored is a change of what is hashed. The hash of an entry is the SHA-256 of the hash
 * before it (as hex digits) followed by this text.
 */
export const auditEntryText = (entry: AuditEntry): string =>
  `{"action":${JSON.stringify(entry.action)},"actor":${JSON.stringify(entry.actor)},"at":${JSON.stringify(entry.at)},` +
  `"capsule_id":${JSON.stringify(entry.capsuleId)},"metadata":${entry.metadata},` +
  `"new_state":${JSON.stringify(entry.newState)},"previous_state":${JSON.stringify(entry.previousState)},` +
  `"seq":${entry.seq},"team_id":${JSON.stringify(entry.teamId)}}`

/** As the API shows it. Whoever hashes it again takes all fields but the two hashes. */
export const auditEntryView = (entry: ChainedEntry) => ({
  seq: entry.seq,
  team_id: entry.teamId,
  capsule_id: entry.capsuleId,
  action: entry.action as AuditAction,
  actor: entry.actor,
  at: entry.at,
  previous_state: entry.previousState,
  new_state: entry.newState,
  metadata: JSON.parse(entry.metadata) as Record<string, unknown>,
  prev_hash: entry.prevHash,
  hash: entry.hash
})
