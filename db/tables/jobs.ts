// Jobs and what belongs to one: events, attempts, artifacts, the outbox. A status is written by `transition` alone
// (db/jobs/job-transition.ts); a trigger refuses any step that domain/jobs/job-status.ts does not name.
import { sql } from 'drizzle-orm'
import { boolean, doublePrecision, index, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import type { DispatchKind } from '../../domain/jobs/dispatch.js'
import type {
  AttemptState,
  CancelOutcome,
  ExecutionMode,
  JobEventType,
  JobStatus,
  TaskState
} from '../../domain/jobs/job-status.js'
import type { ProgrammingModel } from '../../domain/jobs/native-submission.js'
import type { DeferralReason } from '../../domain/jobs/queue-reason.js'
import type { CircuitFormat, SourceKind } from '../../domain/jobs/source.js'
import { teams, users } from './accounts.js'
import { bytea, instant, micro } from './columns.js'
import { scripts } from './scripts.js'
import { apiKeys } from './teams.js'

export const jobs = pgTable(
  'jobs',
  {
    id: uuid('id').primaryKey(),
    teamId: uuid('team_id')
      .notNull()
      .references(() => teams.id),
    userId: uuid('user_id').references(() => users.id, { onDelete: 'set null' }),
    // The key that submitted it.
    apiKeyId: uuid('api_key_id').references(() => apiKeys.id, { onDelete: 'set null' }),
    name: text('name'),
    labels: jsonb('labels').$type<string[]>().notNull(),
    status: text('status').$type<JobStatus>().notNull(),
    statusReason: text('status_reason'),
    // The generation that wrote the present status; null when the writer does not execute (cancel, sweep).
    statusGeneration: integer('status_generation'),
    mode: text('execution_mode').$type<ExecutionMode>().notNull(),
    // Runs as a workflow: every job of mode temporal, and every job at a provider, since nobody may lose a paid task.
    durable: boolean('durable').notNull(),
    // Raised each time a job gets a new workflow. Every write of an executing side names the one it belongs to.
    generation: integer('generation').notNull().default(1),
    // The number of the newest event in job_events.
    eventSeq: integer('event_seq').notNull().default(1),
    // Direct jobs: who holds the job, and until when by the database's clock.
    leaseToken: uuid('lease_token'),
    leaseExpiresAt: instant('lease_expires_at'),
    backend: text('backend').notNull(),
    provider: text('provider').notNull(),
    framework: text('framework').notNull(),
    sourceKind: text('source_kind').$type<SourceKind>().notNull(),
    sourceFormat: text('source_format').$type<CircuitFormat | null>(),
    sourceText: text('source_text').notNull(),
    sourceSha256: text('source_sha256').notNull(),
    // Of a saved script: which one, and the version whose text this is.
    scriptId: uuid('script_id').references(() => scripts.id),
    scriptVersion: integer('script_version'),
    // Of a capsule's run: which one, and the task of its workflow. No references: jobs outlive a deleted capsule.
    capsuleId: uuid('capsule_id'),
    capsuleRunId: uuid('capsule_run_id'),
    capsuleTask: text('capsule_task'),
    // A capsule is made of it when it completes, with this name.
    createCapsule: boolean('create_capsule').notNull().default(false),
    capsuleName: text('capsule_name'),
    // Of a native submission: what is called, and with what (JSON text as it came, of integers of any size).
    programmingModel: text('programming_model').$type<ProgrammingModel | null>(),
    entrypoint: text('entrypoint'),
    input: text('input'),
    // JSON text as it came: a number in it never passes through a reader that could round it.
    params: text('params').notNull(),
    shots: integer('shots').notNull(),
    timeoutSeconds: integer('timeout_seconds').notNull(),
    notBefore: instant('not_before'),
    // Circuits that the estimate counts.
    circuitCount: integer('circuit_count').notNull().default(1),
    // How the submitter wants to hear of the end.
    notify: text('notify').$type<'email' | null>(),
    // Of the request that submitted it: its id, and its place in a trace (W3C traceparent).
    requestId: text('request_id'),
    traceParent: text('trace_parent'),
    estimatedCost: micro('estimated_cost_micro').notNull(),
    // The submitter's own cap, for what the job asks for while it runs.
    maxCost: micro('max_cost_micro'),
    actualCost: micro('actual_cost_micro'),
    // SHA-256 of the artifact that is the job's result.
    resultSha256: text('result_sha256'),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    cancelRequestedAt: instant('cancel_requested_at'),
    cancelOutcome: text('cancel_outcome').$type<CancelOutcome>(),
    workflowRunId: text('workflow_run_id'),
    // Sweep of jobs without a live workflow: when it last looked, and since when the workflow was not found.
    checkedAt: instant('checked_at'),
    missingSince: instant('missing_since'),
    createdAt: instant('created_at').notNull().defaultNow(),
    startedAt: instant('started_at'),
    completedAt: instant('completed_at'),
    updatedAt: instant('updated_at').notNull().defaultNow()
  },
  (table) => [
    // Lists of a team, newest first (ids sort by time): all, those of a time, of a status, of a backend.
    index('jobs_team_id_idx').on(table.teamId, table.id, table.createdAt),
    index('jobs_team_status_idx').on(table.teamId, table.status, table.id, table.backend),
    index('jobs_team_backend_idx').on(table.teamId, table.backend, table.id, table.status),
    // Those of a script that a team ran, newest first.
    index('jobs_script_idx').on(table.scriptId, table.teamId, table.id).where(sql`script_id is not null`),
    // Those of a capsule's runs, newest first.
    index('jobs_capsule_idx').on(table.capsuleId, table.teamId, table.id).where(sql`capsule_id is not null`),
    // Those of all teams, for administrators.
    index('jobs_status_idx').on(table.status, table.id),
    // Those of a user, and what the end of a user or a key has to change.
    index('jobs_user_idx').on(table.userId, table.id),
    index('jobs_api_key_idx').on(table.apiKeyId).where(sql`api_key_id is not null`),
    // Sweep of leases that ran out.
    index('jobs_lease_idx').on(table.leaseExpiresAt).where(sql`lease_token is not null`),
    // Sweep of jobs without a live workflow, and the queue position of a waiting job.
    index('jobs_open_idx').on(table.updatedAt).where(sql`status in ('pending', 'running', 'cancelling')`),
    // Jobs that ended with their money held.
    index('jobs_held_idx')
      .on(table.completedAt)
      .where(sql`actual_cost_micro is null and status in ('failed', 'cancelled')`),
    // A team's jobs under way, against its limit.
    index('jobs_under_way_idx').on(table.teamId).where(sql`status in ('running', 'cancelling')`)
  ]
)

export const jobEvents = pgTable(
  'job_events',
  {
    jobId: uuid('job_id')
      .notNull()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    seq: integer('seq').notNull(),
    type: text('type').$type<JobEventType>().notNull(),
    status: text('status').$type<JobStatus>().notNull(),
    reason: text('reason'),
    // Of an event of type `attempt`: which one, and what became of it.
    task: text('task'),
    attempt: integer('attempt'),
    attemptState: text('attempt_state').$type<AttemptState>(),
    at: instant('at').notNull().default(sql`clock_timestamp()`)
  },
  (table) => [primaryKey({ columns: [table.jobId, table.seq] })]
)

// One row for each execution that the executor accepted. Closing is conditional on `running`, so a late worker changes nothing.
export const attempts = pgTable(
  'attempts',
  {
    jobId: uuid('job_id')
      .notNull()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    // '' is the one task of a plain job.
    task: text('task').notNull().default(''),
    number: integer('number').notNull(),
    generation: integer('generation').notNull(),
    state: text('state').$type<AttemptState>().notNull(),
    startedAt: instant('started_at').notNull().default(sql`clock_timestamp()`),
    endedAt: instant('ended_at'),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    resultSha256: text('result_sha256'),
    // How long the next attempt waits after this one.
    backoffMs: integer('backoff_ms')
  },
  (table) => [primaryKey({ columns: [table.jobId, table.task, table.number] })]
)

// What a script asks of the service while it runs, and the answer: the results of a graph of tasks, or the counts of a
// circuit on a backend where the sandbox runs none. A script that has to run again gets its earlier answers at once.
export const jobAsks = pgTable(
  'job_asks',
  {
    jobId: uuid('job_id')
      .notNull()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    // Who asks: '' is the script itself, else a task of its graph.
    task: text('task').notNull().default(''),
    // Of all that this task has asked, from 1. A try after a failed one asks anew.
    number: integer('number').notNull(),
    // The attempt after whose failure this was asked: answers serve the tries from there to the next failure.
    series: integer('series').notNull().default(0),
    kind: text('kind').$type<'graph' | 'circuit'>().notNull(),
    // What was asked, without what may differ between two runs of the same script: hex SHA-256.
    digest: text('digest').notNull(),
    // The graph's output is the job's result; the script is over.
    final: boolean('final').notNull().default(false),
    // JSON text. Graph: { name, output, dot }; circuit: { openqasm3, facts, shots }.
    body: text('body').notNull(),
    state: text('state').$type<'open' | 'answered'>().notNull(),
    // JSON text: { counts } or { error } of a circuit; a graph's is what its tasks have stored.
    answer: text('answer'),
    // The run that waits in the executor for the answer, for a while.
    parkedAs: text('parked_as'),
    createdAt: instant('created_at').notNull().default(sql`clock_timestamp()`),
    answeredAt: instant('answered_at')
  },
  (table) => [primaryKey({ columns: [table.jobId, table.task, table.number] })]
)

// A task of a graph. Written when its graph is asked for, moved along by conditional updates.
export const jobTasks = pgTable(
  'job_tasks',
  {
    jobId: uuid('job_id')
      .notNull()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    // `task_0001`, those of a second graph `2.task_0001`.
    key: text('key').notNull(),
    // The number of the script's ask that brought it, and its place there.
    ask: integer('ask').notNull(),
    position: integer('position').notNull(),
    name: text('name').notNull(),
    funcName: text('func_name').notNull(),
    // Keys of the tasks whose results it takes.
    dependsOn: text('depends_on').array().notNull(),
    level: integer('level').notNull(),
    retries: integer('retries').notNull(),
    timeoutSeconds: doublePrecision('timeout_seconds').notNull(),
    state: text('state').$type<TaskState>().notNull(),
    // Contents in task_values: the pickled function, its arguments, what it returned.
    functionSha256: text('function_sha256').notNull(),
    argumentsSha256: text('arguments_sha256').notNull(),
    resultSha256: text('result_sha256'),
    // The result as plain JSON, where it can be told so; else why not.
    displaySha256: text('display_sha256'),
    displayProblem: text('display_problem'),
    // What it printed, cut.
    stdout: text('stdout'),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    startedAt: instant('started_at'),
    completedAt: instant('completed_at')
  },
  (table) => [primaryKey({ columns: [table.jobId, table.key] })]
)

// Functions, arguments and results of a job's tasks, each content once. They may hold pickled values, which are opened in
// the sandbox alone.
export const taskValues = pgTable(
  'task_values',
  {
    jobId: uuid('job_id')
      .notNull()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    // Hex.
    sha256: text('sha256').notNull(),
    sizeBytes: integer('size_bytes').notNull(),
    content: bytea('content').notNull()
  },
  (table) => [primaryKey({ columns: [table.jobId, table.sha256] })]
)

// What a job produced, by name. Written once; a second write with the same name replaces it only within the same fence.
export const artifacts = pgTable(
  'artifacts',
  {
    jobId: uuid('job_id')
      .notNull()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    sha256: text('sha256').notNull(),
    sizeBytes: integer('size_bytes').notNull(),
    mediaType: text('media_type').notNull(),
    content: bytea('content').notNull(),
    createdAt: instant('created_at').notNull().default(sql`clock_timestamp()`)
  },
  (table) => [primaryKey({ columns: [table.jobId, table.name, table.sha256] })]
)

// What still has to be told to an engine. Written in the transaction that makes the need true; a `start` row lives until
// the job leaves `pending`, a `cancel` row until the job is final. Steady state: empty but for jobs that wait.
export const outbox = pgTable(
  'outbox',
  {
    jobId: uuid('job_id')
      .notNull()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    kind: text('kind').$type<DispatchKind>().notNull(),
    teamId: uuid('team_id').notNull(),
    backend: text('backend').notNull(),
    mode: text('mode').$type<ExecutionMode>().notNull(),
    generation: integer('generation').notNull(),
    // Not before this time (`not_before` of a job).
    dueAt: instant('due_at').notNull(),
    // When the relay looks at the row next.
    nextAt: instant('next_at').notNull(),
    deliveries: integer('deliveries').notNull().default(0),
    // Why the relay does not deliver a due row yet.
    heldReason: text('held_reason').$type<DeferralReason | null>(),
    // Since when, without a break, the engine could not be reached; null while it can be.
    unreachableSince: instant('unreachable_since'),
    createdAt: instant('created_at').notNull().defaultNow()
  },
  (table) => [
    primaryKey({ columns: [table.jobId, table.kind] }),
    // The relay's pass.
    index('outbox_next_at_idx').on(table.nextAt),
    // The next of a team's held jobs, when one of its jobs ends.
    index('outbox_held_idx').on(table.teamId, table.jobId).where(sql`held_reason = 'concurrency_limit'`),
    // Jobs that wait for a backend, when it is back.
    index('outbox_offline_idx').on(table.backend, table.jobId).where(sql`held_reason = 'backend_offline'`),
    // What a team has with the engines and nobody has begun, against its limit.
    index('outbox_delivered_idx').on(table.teamId).where(sql`kind = 'start' and deliveries > 0`)
  ]
)
