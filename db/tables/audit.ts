// The audit trail: one hash chain per team, only appended to; its signed checkpoints; and the signing keys.
import { sql } from 'drizzle-orm'
import { bigint, index, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytea, instant } from './columns.js'

export const auditEntries = pgTable(
  'audit_entries',
  {
    // No references: entries outlive their subjects.
    teamId: uuid('team_id').notNull(),
    seq: bigint('seq', { mode: 'number' }).notNull(),
    capsuleId: uuid('capsule_id'),
    action: text('action').notNull(),
    // `user:<id>`, `key:<id>`, `admin:<id>` or `system`; never an email address.
    actor: text('actor').notNull(),
    // The text that is hashed: ISO 8601 UTC with milliseconds.
    at: text('at').notNull(),
    previousState: text('previous_state'),
    newState: text('new_state'),
    // The JSON text that is hashed (RFC 8785).
    metadata: text('metadata').notNull(),
    // Both hashes are hex.
    prevHash: text('prev_hash').notNull(),
    hash: text('hash').notNull()
  },
  (table) => [
    primaryKey({ columns: [table.teamId, table.seq] }),
    index('audit_entries_capsule_idx').on(table.capsuleId, table.seq)
  ]
)

export const auditHeads = pgTable('audit_heads', {
  teamId: uuid('team_id').primaryKey(),
  seq: bigint('seq', { mode: 'number' }).notNull(),
  hash: text('hash').notNull()
})

// A signed statement that the team's chain had this hash at this entry. It is also appended to a file outside the
// database.
export const auditCheckpoints = pgTable(
  'audit_checkpoints',
  {
    teamId: uuid('team_id').notNull(),
    seq: bigint('seq', { mode: 'number' }).notNull(),
    hash: text('hash').notNull(),
    at: text('at').notNull(),
    keyId: text('key_id').notNull(),
    // Base64 of the Ed25519 signature.
    signature: text('signature').notNull(),
    // When it was appended to the file; null when it was not yet.
    exportedAt: instant('exported_at')
  },
  (table) => [
    primaryKey({ columns: [table.teamId, table.seq, table.at] }),
    index('audit_checkpoints_unexported_idx').on(table.at).where(sql`exported_at is null`)
  ]
)

// The installation's Ed25519 keys. The private half is sealed with the key ring, like a provider's credential.
export const signingKeys = pgTable('signing_keys', {
  // The first 16 hex digits of the SHA-256 of the public key (SubjectPublicKeyInfo, DER).
  keyId: text('key_id').primaryKey(),
  publicKeyPem: text('public_key_pem').notNull(),
  ringKeyId: text('ring_key_id').notNull(),
  wrappedKey: bytea('wrapped_key').notNull(),
  sealedKey: bytea('sealed_key').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
  retiredAt: instant('retired_at')
})
