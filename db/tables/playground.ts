// What simulations in the browser report about themselves. No other table refers to these rows.
import { sql } from 'drizzle-orm'
import { doublePrecision, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { teams, users } from './accounts.js'
import { instant } from './columns.js'

export const playgroundTelemetry = pgTable('playground_telemetry', {
  id: uuid('id').primaryKey(),
  teamId: uuid('team_id')
    .notNull()
    .references(() => teams.id, { onDelete: 'cascade' }),
  userId: uuid('user_id').references(() => users.id, { onDelete: 'set null' }),
  // The browser's own id for its visit, unrelated to sessions of this service.
  sessionId: text('session_id').notNull(),
  simulator: text('simulator').notNull(),
  simulatorVersion: text('simulator_version'),
  sourceFramework: text('source_framework'),
  qasmInput: text('qasm_input').notNull(),
  shots: integer('shots').notNull(),
  qubitCount: integer('qubit_count').notNull(),
  gateCount: integer('gate_count').notNull(),
  executionTimeMs: doublePrecision('execution_time_ms').notNull(),
  counts: jsonb('counts').$type<Record<string, number>>().notNull(),
  userAgent: text('user_agent'),
  createdAt: instant('created_at').notNull().default(sql`clock_timestamp()`)
})
