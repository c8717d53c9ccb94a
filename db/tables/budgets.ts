// Money: limits of a team, counters of a day or month, and the append-only ledger, whose sums must always equal the
// counters.
import { sql } from 'drizzle-orm'
import { bigint, date, index, integer, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { teams } from './accounts.js'
import { instant, micro } from './columns.js'

// Stores only what differs from the defaults in domain/money/budget.ts; null means the default.
export const teamBudgets = pgTable('team_budgets', {
  teamId: uuid('team_id')
    .primaryKey()
    .references(() => teams.id, { onDelete: 'cascade' }),
  perJob: micro('per_job_micro'),
  perSuite: micro('per_suite_micro'),
  daily: micro('daily_micro'),
  monthly: micro('monthly_micro'),
  ceilingPerJob: micro('ceiling_per_job_micro'),
  ceilingPerSuite: micro('ceiling_per_suite_micro'),
  ceilingDaily: micro('ceiling_daily_micro'),
  ceilingMonthly: micro('ceiling_monthly_micro'),
  updatedAt: instant('updated_at').notNull().defaultNow()
})

export const budgetCounters = pgTable(
  'budget_counters',
  {
    teamId: uuid('team_id')
      .notNull()
      .references(() => teams.id, { onDelete: 'cascade' }),
    period: text('period', { enum: ['day', 'month'] }).notNull(),
    // The first UTC day of the period.
    startsOn: date('starts_on', { mode: 'string' }).notNull(),
    spent: micro('spent_micro').notNull(),
    reserved: micro('reserved_micro').notNull()
  },
  (table) => [
    primaryKey({ columns: [table.teamId, table.period, table.startsOn] }),
    // The proof of each minute: the days since yesterday, and every counter with a reservation.
    index('budget_counters_period_idx').on(table.period, table.startsOn),
    index('budget_counters_reserved_idx').on(table.period, table.teamId, table.startsOn).where(sql`reserved_micro <> 0`)
  ]
)

export const ledger = pgTable(
  'ledger',
  {
    id: uuid('id').primaryKey().default(sql`gen_random_uuid()`),
    teamId: uuid('team_id').notNull(),
    jobId: uuid('job_id').notNull(),
    // '' and 0 for a job's own row; otherwise those of a provider job: of a circuit that was requested, or (`adjust`) whose cost
    // became known after the settlement.
    task: text('task').notNull().default(''),
    attempt: integer('attempt').notNull().default(0),
    kind: text('kind', { enum: ['reserve', 'settle', 'release', 'adjust'] }).notNull(),
    amount: micro('amount_micro').notNull(),
    // The UTC day whose counters the row changed. The month follows from it.
    day: date('day', { mode: 'string' }).notNull(),
    at: instant('at').notNull().default(sql`clock_timestamp()`)
  },
  (table) => [
    uniqueIndex('ledger_once_key').on(table.jobId, table.task, table.attempt, table.kind),
    // Sums of a team by day, to compare with its counters.
    index('ledger_team_day_idx').on(table.teamId, table.day),
    // Jobs that cost more than their reservation.
    index('ledger_over_idx').on(table.at).where(sql`kind = 'release' and amount_micro < 0`),
    index('ledger_raised_idx').on(table.at).where(sql`kind = 'adjust' and amount_micro > 0`)
  ]
)

const usageFigures = {
  teamId: uuid('team_id').notNull(),
  // The UTC day that a job's reservation counts against.
  day: date('day', { mode: 'string' }).notNull(),
  backend: text('backend').notNull(),
  provider: text('provider').notNull(),
  // Jobs that started, and their shots.
  jobs: integer('jobs').notNull(),
  shots: bigint('shots', { mode: 'number' }).notNull(),
  spent: micro('spent_micro').notNull()
}

// What a team ran and spent, by day and backend: the sums, and the entries since they were computed. Two triggers write
// an entry in the transaction that starts a job or moves money. Each entry is a row of its own, so that no job waits
// for another. A sweep adds the entries to the sums (db/money/usage.ts).
export const usageDays = pgTable('usage_days', usageFigures, (table) => [
  primaryKey({ columns: [table.teamId, table.day, table.backend, table.provider] })
])
export const usageEntries = pgTable('usage_entries', usageFigures, (table) => [
  index('usage_entries_team_day_idx').on(table.teamId, table.day)
])
