// The audit trail of a team: its actions, and the text of an entry that is hashed.

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
  'capsule.takedown',
  // Access that an account gave before its address was proved was revoked.
  'account.proved'
] as const
export type AuditAction = (typeof auditActions)[number]

/** The previous hash of the first entry in a chain. */
export const NO_HASH = '0'.repeat(64)

/** The fields of an entry that are hashed. */
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

/** An entry in its chain. Both hashes are hex SHA-256. */
export interface ChainedEntry extends AuditEntry {
  prevHash: string
  hash: string
}

/** Where a trail is broken: the first entry that was changed or is missing. */
export interface AuditFault {
  seq: number
  reason: string
}

/**
 * The RFC 8785 form of an entry, with sorted names and the stored metadata. It is assembled here from the stored text,
 * so that changing a single stored byte changes the hash. The hash of an entry is the SHA-256 of the previous hash (as
 * hex digits) followed by this text.
 */
export const auditEntryText = (entry: AuditEntry): string =>
  `{"action":${JSON.stringify(entry.action)},"actor":${JSON.stringify(entry.actor)},"at":${JSON.stringify(entry.at)},` +
  `"capsule_id":${JSON.stringify(entry.capsuleId)},"metadata":${entry.metadata},` +
  `"new_state":${JSON.stringify(entry.newState)},"previous_state":${JSON.stringify(entry.previousState)},` +
  `"seq":${entry.seq},"team_id":${JSON.stringify(entry.teamId)}}`

/** The entry as the API shows it. To recompute the hash, take all fields except the two hashes. */
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
