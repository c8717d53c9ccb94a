// Work at providers of quantum hardware. A row of `provider_tasks` is written before anything is sent and outlives every
// process: it is how a job that asks again finds what it has asked for before, so that nothing is paid for twice.
import { sql } from 'drizzle-orm'
import { index, integer, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import type { ProviderJobState } from '../../domain/backends/provider-job.js'
import { instant, micro } from './columns.js'
import { jobs } from './jobs.js'

export const providerJobs = pgTable(
  'provider_tasks',
  {
    jobId: uuid('job_id')
      .notNull()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    // '' is the one task of a plain job, or the script itself; else the task of a graph that asks for a circuit.
    task: text('task').notNull().default(''),
    // 1 of a plain job; the number of the ask of a script or task.
    attempt: integer('attempt').notNull(),
    provider: text('provider').notNull(),
    // What the provider finds its task by, whatever became of our first question: hex SHA-256.
    token: text('token').notNull(),
    generation: integer('generation').notNull(),
    state: text('state').$type<ProviderJobState>().notNull(),
    // Each try to submit takes the row; only the very first may send without looking first.
    tries: integer('tries').notNull().default(0),
    takenAt: instant('taken_at'),
    // When a request may last have been under way to the provider; a look that finds nothing counts only long after.
    lastSentAt: instant('last_sent_at'),
    // Which state of the team's credentials that request went out with: under others the provider may show another account.
    sentWith: text('sent_with'),
    providerJobId: text('provider_job_id'),
    acceptedAt: instant('accepted_at'),
    // What the provider said last, in its own word.
    providerStatus: text('provider_status'),
    queuePosition: integer('queue_position'),
    predictedWaitSeconds: integer('predicted_wait_seconds'),
    // The last time that the provider answered about this task.
    seenAt: instant('seen_at'),
    cancelRequestedAt: instant('cancel_requested_at'),
    endedAt: instant('ended_at'),
    // The price of a circuit that was asked for, when it was; null of a plain job, whose own estimate it is.
    estimate: micro('estimate_micro'),
    // What the provider charged, where it says so.
    cost: micro('cost_micro'),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    // Of a task whose job has ended with its money held: when to ask the provider again.
    askAt: instant('ask_at'),
    createdAt: instant('created_at').notNull().default(sql`clock_timestamp()`)
  },
  (table) => [
    primaryKey({ columns: [table.jobId, table.task, table.attempt] }),
    uniqueIndex('provider_tasks_token_key').on(table.token),
    // The sweep that asks after held money.
    index('provider_tasks_ask_at_idx').on(table.askAt).where(sql`ask_at is not null`)
  ]
)

// Which providers some worker can talk to, and when one last said so.
export const providerWorkers = pgTable('provider_workers', {
  provider: text('provider').primaryKey(),
  declaredAt: instant('declared_at').notNull()
})
