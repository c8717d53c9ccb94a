// Jobs at providers of quantum hardware. A row of `provider_tasks` is inserted before anything is sent, and outlives
// every process. A job that runs again finds its earlier submission here, so nothing is paid for twice.
import { sql } from 'drizzle-orm'
import {
  boolean,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid
} from 'drizzle-orm/pg-core'
import type { Place, ProviderJobState } from '../../domain/backends/provider-job.js'
import { instant, micro } from './columns.js'
import { jobs } from './jobs.js'

export const providerJobs = pgTable(
  'provider_tasks',
  {
    jobId: uuid('job_id')
      .notNull()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    // '' for a plain job's only task and for the script itself; otherwise the task of a graph that requested the
    // circuit.
    task: text('task').notNull().default(''),
    // 1 for a plain job; otherwise the number of the request of the script or task.
    attempt: integer('attempt').notNull(),
    provider: text('provider').notNull(),
    // Hex SHA-256 by which the provider's job can be found, even when the response to the first submission was lost.
    token: text('token').notNull(),
    generation: integer('generation').notNull(),
    state: text('state').$type<ProviderJobState>().notNull(),
    // Each try to submit takes the row. Only the first try can send without looking the job up first.
    tries: integer('tries').notNull().default(0),
    takenAt: instant('taken_at'),
    // When a request to the provider may last have been in flight. A look-up that finds nothing counts only long after.
    lastSentAt: instant('last_sent_at'),
    // The version of the team's credentials that the request used. With other credentials the provider may show another
    // account.
    sentWith: text('sent_with'),
    // Where the request was sent: an account, and what the provider needs to find the job there. Fixed with the first
    // request that may have arrived; null before the first try.
    place: jsonb('place').$type<Place>(),
    // What the circuit costs on a device that is billed by time, and the cap that was sent: fixed with the place, and null for
    // any other device.
    fixedCost: micro('fixed_micro'),
    minimumCost: micro('minimum_cost_micro'),
    perSecond: micro('per_second_micro'),
    secondsMax: integer('seconds_max'),
    // The provider was an emulator.
    emulated: boolean('emulated').notNull().default(false),
    // Why it waits, in public words; null while nothing is wrong.
    waitMessage: text('wait_message'),
    // Since when the provider could have accepted it: not while its device takes no jobs.
    tryingSince: instant('trying_since').notNull().default(sql`clock_timestamp()`),
    providerJobId: text('provider_job_id'),
    acceptedAt: instant('accepted_at'),
    // The status that the provider last reported, in the provider's words.
    providerStatus: text('provider_status'),
    queuePosition: integer('queue_position'),
    predictedWaitSeconds: integer('predicted_wait_seconds'),
    // When the provider last responded about this job.
    seenAt: instant('seen_at'),
    cancelRequestedAt: instant('cancel_requested_at'),
    endedAt: instant('ended_at'),
    // The price of a requested circuit at the time of the request; null for a plain job, which has an estimate of its
    // own.
    estimate: micro('estimate_micro'),
    // The charge that the provider reported, or that of the seconds that it reported; null while there is neither.
    cost: micro('cost_micro'),
    // What the provider job used, in its provider's unit.
    usageAmount: doublePrecision('usage_amount'),
    usageUnit: text('usage_unit'),
    // What a reader of the cost must know, in public words.
    note: text('note'),
    // Set when it ended before its provider stated cost or usage: when to query the provider again.
    usageAskAt: instant('usage_ask_at'),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    // Set when the job ended with its reservation held: when to query the provider again.
    askAt: instant('ask_at'),
    createdAt: instant('created_at').notNull().default(sql`clock_timestamp()`)
  },
  (table) => [
    primaryKey({ columns: [table.jobId, table.task, table.attempt] }),
    uniqueIndex('provider_tasks_token_key').on(table.token),
    // The sweep that queries providers about held reservations.
    index('provider_tasks_ask_at_idx').on(table.askAt).where(sql`ask_at is not null`),
    // The sweep that queries providers about usage which they stated late.
    index('provider_tasks_usage_ask_at_idx').on(table.usageAskAt).where(sql`usage_ask_at is not null`)
  ]
)

// The providers that some worker serves, and when a worker last declared it.
export const providerWorkers = pgTable('provider_workers', {
  provider: text('provider').primaryKey(),
  declaredAt: instant('declared_at').notNull(),
  // The worker calls an emulator in its place.
  emulated: boolean('emulated').notNull().default(false)
})
