// How long each team keeps contents, and the bytes that it stores: sums, entries since they were computed, and limits that differ
// from the default. Triggers
// write an entry in the transaction that adds or removes rows of a metered table (db/migrations), so no write is missed and
// none waits for another. A sweep adds the entries to the sums (db/teams/team-storage.ts).
import { sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import type { ContentKind } from '../../domain/teams/content-retention.js'
import type { StorageKind } from '../../domain/teams/team-storage.js'
import { teams } from './accounts.js'
import { instant } from './columns.js'

const figures = {
  // No reference: jobs and audit trails outlive their team.
  teamId: uuid('team_id').notNull(),
  kind: text('kind').$type<StorageKind>().notNull(),
  // Of an entry, negative when rows were removed.
  bytes: bigint('bytes', { mode: 'number' }).notNull()
}

export const teamStorage = pgTable('team_storage', figures, (table) => [
  primaryKey({ columns: [table.teamId, table.kind] })
])

export const storageEntries = pgTable('storage_entries', figures, (table) => [
  index('storage_entries_team_idx').on(table.teamId)
])

// Set by administrators. A team without a row has the default of the installation.
export const teamStorageLimits = pgTable('team_storage_limits', {
  teamId: uuid('team_id')
    .primaryKey()
    .references(() => teams.id, { onDelete: 'cascade' }),
  bytes: bigint('limit_bytes', { mode: 'number' }).notNull(),
  updatedAt: instant('updated_at').notNull().defaultNow()
})

// How long a team keeps a kind of content. Without a row, as long as the operator does.
export const contentRetention = pgTable(
  'content_retention',
  {
    teamId: uuid('team_id')
      .notNull()
      .references(() => teams.id, { onDelete: 'cascade' }),
    kind: text('kind').$type<ContentKind>().notNull(),
    days: integer('days').notNull(),
    changedAt: instant('changed_at').notNull().default(sql`clock_timestamp()`)
  },
  (table) => [primaryKey({ columns: [table.teamId, table.kind] })]
)

// How far the sweep has come: it has nothing left to remove of the team's jobs up to this one.
export const contentRetentionMarks = pgTable(
  'content_retention_marks',
  {
    teamId: uuid('team_id')
      .notNull()
      .references(() => teams.id, { onDelete: 'cascade' }),
    kind: text('kind').$type<ContentKind>().notNull(),
    jobId: uuid('job_id').notNull()
  },
  (table) => [primaryKey({ columns: [table.teamId, table.kind] })]
)

// Objects of the content store that no row names: those that are being written, and those whose rows are gone. A row is
// written here before its object, and by a trigger when a row that names an object is deleted, so that each object is in
// exactly one place: named by a content, or here. After some days a sweep removes the object and then its row.
export const unnamedObjects = pgTable(
  'unnamed_objects',
  {
    key: text('key').primaryKey(),
    since: instant('since').notNull().default(sql`clock_timestamp()`),
    // It is about to be removed, and can no longer be named.
    removing: boolean('removing').notNull().default(false)
  },
  (table) => [index('unnamed_objects_since_idx').on(table.since)]
)
