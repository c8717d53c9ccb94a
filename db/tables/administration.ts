// The actions of platform administrators. Rows are only appended.
import { sql } from 'drizzle-orm'
import { jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instant } from './columns.js'

export const adminActions = pgTable('admin_actions', {
  id: uuid('id').primaryKey(),
  // No reference: the entry outlives the account.
  actorId: uuid('actor_id').notNull(),
  actorEmail: text('actor_email').notNull(),
  action: text('action').notNull(),
  // What the action changed: a team's id, a backend's slug, an access code, ...
  target: text('target').notNull(),
  details: jsonb('details').$type<Record<string, unknown>>().notNull(),
  at: instant('at').notNull().default(sql`clock_timestamp()`)
})
