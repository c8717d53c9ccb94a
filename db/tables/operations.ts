// The service's own records: responses to repeated requests, passes of sweeps, mails about jobs, and which programs can use
// the schema.
import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytea, instant } from './columns.js'
import { jobs } from './jobs.js'

// One row for each write with an Idempotency-Key and a 2xx response, inserted by the transaction of the write itself. A
// duplicate waits on the primary key, and a killed process leaves nothing behind.
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    // `user:<id>` or `key:<id>`.
    principal: text('principal').notNull(),
    key: text('key').notNull(),
    method: text('method').notNull(),
    path: text('path').notNull(),
    bodySha256: text('body_sha256').notNull(),
    status: integer('status').notNull(),
    // JSON text without secrets that are shown once; '' for a response without a body.
    body: text('body').notNull(),
    // The team that the write concerned, if the caller was still a member afterwards. A caller who has left since does
    // not get the response again.
    teamId: uuid('team_id'),
    createdAt: instant('created_at').notNull().defaultNow()
  },
  (table) => [
    primaryKey({ columns: [table.principal, table.key] }),
    // The sweep that removes old rows.
    index('idempotency_keys_created_at_idx').on(table.createdAt)
  ]
)

// The last pass of each sweep, in any worker.
export const sweeps = pgTable('sweeps', {
  name: text('name').primaryKey(),
  // How often a pass is recorded when all is well.
  periodSeconds: integer('period_seconds').notNull(),
  ranAt: instant('ran_at').notNull(),
  succeededAt: instant('succeeded_at'),
  error: text('error'),
  // How many items the last successful passes handled, how many they could not, and what an administrator has to check.
  handled: integer('handled').notNull().default(0),
  failed: integer('failed').notNull().default(0),
  findings: jsonb('findings').$type<{ message: string; at: string }[]>().notNull().default([])
})

// Requested mails about the end of jobs, until each is sent or abandoned.
export const jobMails = pgTable(
  'job_mails',
  {
    jobId: uuid('job_id')
      .primaryKey()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    tries: integer('tries').notNull().default(0),
    nextAt: instant('next_at').notNull().default(sql`clock_timestamp()`),
    lastError: text('last_error')
  },
  (table) => [index('job_mails_next_at_idx').on(table.nextAt)]
)

// Mails whose links hold a live token (invitations, forgotten passwords), until they are sent, given up or expired. The
// whole mail is sealed as a provider's credential is.
export const sealedMails = pgTable(
  'sealed_mails',
  {
    id: uuid('id').primaryKey(),
    ringKeyId: text('ring_key_id').notNull(),
    wrappedKey: bytea('wrapped_key').notNull(),
    sealedMail: bytea('sealed_mail').notNull(),
    // Mails of a higher number are sent first: a link to a new password before any invitation.
    priority: integer('priority').notNull().default(0),
    // The end of the token's life: the mail is worth nothing afterwards.
    expiresAt: instant('expires_at').notNull(),
    tries: integer('tries').notNull().default(0),
    nextAt: instant('next_at').notNull().default(sql`clock_timestamp()`),
    lastError: text('last_error')
  },
  (table) => [index('sealed_mails_next_at_idx').on(table.nextAt)]
)

// Restores of this database from a backup. What happened between `takenAt` and the loss of the backed-up database is not
// recorded here: a job from before may have been sent to a provider since.
export const restores = pgTable('restores', {
  // The backup's id is not the key: one backup can be restored, backed up and restored again.
  id: uuid('id').primaryKey(),
  backupId: uuid('backup_id').notNull(),
  // The time of the backup's snapshot.
  takenAt: instant('taken_at').notNull(),
  restoredAt: instant('restored_at').notNull().default(sql`clock_timestamp()`)
})

// The one row says which programs can use this schema, and which seeds the database has (db/schema).
export const schemaCompatibility = pgTable(
  'schema_compatibility',
  {
    onlyRow: boolean('only_row').primaryKey().default(true),
    // How many migrations a program must know. A migration that is marked `contract` raises it.
    minimumMigrations: integer('minimum_migrations').notNull(),
    // How many versions db/seed/versions.json had when it was last written to the database.
    seedVersion: integer('seed_version').notNull()
  },
  (table) => [check('schema_compatibility_one_row', sql`${table.onlyRow}`)]
)
