// Jobs and their events, attempts, requests, tasks, artifacts and outbox rows. Only `transition`
// (db/jobs/job-transition.ts) writes a status; a trigger refuses every step that domain/jobs/job-status.ts does not
// allow.
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uuid
} from 'drizzle-orm/pg-core'
import type { DispatchKind } from '../../domain/jobs/dispatch.js'
import type {
  AttemptState,
  CancelOutcome,
  ExecutionMode,
  JobEventType,
  JobStatus,
  TaskState
} from '../../domain/jobs/job-status.js'
import type { ProgrammingModel } from '../../domain/jobs/native/native-submission.js'
import type { DeferralReason } from '../../domain/jobs/queue-reason.js'
import type { CircuitFormat, SourceKind } from '../../domain/jobs/source.js'
import type { BackendChoice } from '../../domain/jobs/submission.js'
import type { ContentKind } from '../../domain/teams/content-retention.js'
import { teams, users } from './accounts.js'
import { contentColumns, instant, micro, moving, unmoved } from './columns.js'
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
    // The API key that submitted it.
    apiKeyId: uuid('api_key_id').references(() => apiKeys.id, { onDelete: 'set null' }),
    name: text('name'),
    labels: jsonb('labels').$type<string[]>().notNull(),
    status: text('status').$type<JobStatus>().notNull(),
    statusReason: text('status_reason'),
    // The generation that wrote the current status; null when the writer does not execute the job (cancel, sweep).
    statusGeneration: integer('status_generation'),
    mode: text('execution_mode').$type<ExecutionMode>().notNull(),
    // Runs as a workflow: every job of mode temporal, and every job at a provider, since a paid provider job must never
    // be lost.
    durable: boolean('durable').notNull(),
    // Raised each time the job gets a new workflow. Every write of a worker names the generation that it belongs to.
    generation: integer('generation').notNull().default(1),
    // The number of the newest event in job_events.
    eventSeq: integer('event_seq').notNull().default(1),
    // Set for direct jobs: the worker's claim, and when it expires by the database's clock.
    leaseToken: uuid('lease_token'),
    leaseExpiresAt: instant('lease_expires_at'),
    backend: text('backend').notNull(),
    provider: text('provider').notNull(),
    // Why the service chose the backend, where the submission left it open.
    choice: jsonb('choice').$type<BackendChoice | null>(),
    framework: text('framework').notNull(),
    sourceKind: text('source_kind').$type<SourceKind>().notNull(),
    sourceFormat: text('source_format').$type<CircuitFormat | null>(),
    sourceText: text('source_text').notNull(),
    sourceSha256: text('source_sha256').notNull(),
    // Set for saved scripts: the script, and the version that `source_text` is a copy of.
    scriptId: uuid('script_id').references(() => scripts.id),
    scriptVersion: integer('script_version'),
    // Set for jobs that a capsule run created: the capsule, the run, and the task of its workflow. No references: jobs
    // outlive a deleted capsule.
    capsuleId: uuid('capsule_id'),
    capsuleRunId: uuid('capsule_run_id'),
    capsuleTask: text('capsule_task'),
    // Whether a capsule is made of the job on completion, and its name.
    createCapsule: boolean('create_capsule').notNull().default(false),
    capsuleName: text('capsule_name'),
    // Set for native submissions: the function to call, and its input (exact JSON text, since its integers can have any
    // size).
    programmingModel: text('programming_model').$type<ProgrammingModel | null>(),
    entrypoint: text('entrypoint'),
    input: text('input'),
    // Exact JSON text: a JSON parser could round a number in it.
    params: text('params').notNull(),
    shots: integer('shots').notNull(),
    timeoutSeconds: integer('timeout_seconds').notNull(),
    notBefore: instant('not_before'),
    // How many circuits the estimate counts.
    circuitCount: integer('circuit_count').notNull().default(1),
    // Of a sweep: its points, those with a result or an error, those with an error, the shots of all together, and how long
    // their batches ran, in milliseconds.
    pointsTotal: integer('points_total'),
    pointsDone: integer('points_done').notNull().default(0),
    pointsFailed: integer('points_failed').notNull().default(0),
    pointsShots: bigint('points_shots', { mode: 'number' }),
    pointsMs: bigint('points_ms', { mode: 'number' }).notNull().default(0),
    // How the submitter is notified when the job ends.
    notify: text('notify').$type<'email' | null>(),
    // Of the request that submitted the job: its id, and its place in a trace (W3C traceparent).
    requestId: text('request_id'),
    traceParent: text('trace_parent'),
    estimatedCost: micro('estimated_cost_micro').notNull(),
    // The submitter's own cap on all costs of the job.
    maxCost: micro('max_cost_micro'),
    actualCost: micro('actual_cost_micro'),
    // SHA-256 of the artifact that is the job's result.
    resultSha256: text('result_sha256'),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    // Why the job is about to fail, until its workflow fails it: Temporal's histories contain the code alone.
    failingMessage: text('failing_message'),
    cancelRequestedAt: instant('cancel_requested_at'),
    cancelOutcome: text('cancel_outcome').$type<CancelOutcome>(),
    workflowRunId: text('workflow_run_id'),
    // Written by the sweep of jobs without a live workflow: when it last looked, and since when the workflow is
    // missing.
    checkedAt: instant('checked_at'),
    missingSince: instant('missing_since'),
    // The same sweep: since when the workflow's own code fails at each try, and how many workflows the job has lost because
    // that code had changed.
    workflowFailingSince: instant('workflow_failing_since'),
    codeRestarts: integer('code_restarts').notNull().default(0),
    // What task_values and job_asks hold of the job, each content counted once. The limit is compared under the lock on
    // this row (domain/jobs/value-limits.ts).
    valuesBytes: bigint('values_bytes', { mode: 'number' }).notNull().default(0),
    // Executions of the script that began since the last one whose end was recorded.
    executionsBegun: integer('executions_begun').notNull().default(0),
    // What job_output holds of the job: bytes of text, and rows with text.
    outputBytes: integer('output_bytes').notNull().default(0),
    outputEvents: integer('output_events').notNull().default(0),
    createdAt: instant('created_at').notNull().defaultNow(),
    startedAt: instant('started_at'),
    completedAt: instant('completed_at'),
    updatedAt: instant('updated_at').notNull().defaultNow()
  },
  (table) => [
    // Lists of a team, newest first (ids sort by time): all, by time, by status, by backend.
    index('jobs_team_id_idx').on(table.teamId, table.id, table.createdAt),
    index('jobs_team_status_idx').on(table.teamId, table.status, table.id, table.backend),
    index('jobs_team_backend_idx').on(table.teamId, table.backend, table.id, table.status),
    // Jobs of a team by the end of their ids. Ends are random: without the span of time before them, each new job would
    // change a page of its own, which Postgres' log then has as a whole.
    index('jobs_span_end_idx').on(table.teamId, sql`left(id::text, 5)`, sql`right(id::text, 8)`),
    // Jobs of a team that ran a script, newest first.
    index('jobs_script_idx').on(table.scriptId, table.teamId, table.id).where(sql`script_id is not null`),
    // Jobs of a capsule's runs, newest first.
    index('jobs_capsule_idx').on(table.capsuleId, table.teamId, table.id).where(sql`capsule_id is not null`),
    // Jobs of all teams that have ended, for administrators. Those that have not are few: `jobs_open_idx` has them.
    index('jobs_ended_idx')
      .on(table.status, table.id)
      .where(sql`status in ('completed', 'failed', 'cancelled', 'dispatch_failed')`),
    // Jobs of a team that one user submitted, newest first; and the rows to change when a user or a key is deleted.
    index('jobs_user_team_idx').on(table.userId, table.teamId, table.id),
    index('jobs_api_key_idx').on(table.apiKeyId).where(sql`api_key_id is not null`),
    // Renewals of leases, and the sweep of expired ones, which reads all. The time of expiry is in no index, so that a
    // renewal changes none.
    index('jobs_lease_token_idx').on(table.leaseToken).where(sql`lease_token is not null`),
    // The sweep of jobs without a live workflow, and the queue position of a waiting job.
    index('jobs_open_idx').on(table.updatedAt).where(sql`status in ('pending', 'running', 'cancelling')`),
    // Finished jobs whose reservation is held.
    index('jobs_held_idx')
      .on(table.completedAt)
      .where(sql`actual_cost_micro is null and status in ('failed', 'cancelled')`),
    // A team's running jobs, to compare with its limit.
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
    // Set for events of type `attempt` and `output`: which attempt; for `attempt` its state.
    task: text('task'),
    attempt: integer('attempt'),
    attemptState: text('attempt_state').$type<AttemptState>(),
    at: instant('at').notNull().default(sql`clock_timestamp()`)
  },
  (table) => [primaryKey({ columns: [table.jobId, table.seq] })]
)

// What a program printed while it ran: the text of the events of type `output`.
export const jobOutput = pgTable(
  'job_output',
  {
    jobId: uuid('job_id')
      .notNull()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    // The number of the event.
    seq: integer('seq').notNull(),
    text: text('text').notNull(),
    // Where it begins in the text of its attempt, in bytes of UTF-8.
    textOffset: integer('text_offset').notNull(),
    // Set at a cut: how many bytes the attempt has printed after the last text, so far.
    truncatedBytes: integer('truncated_bytes')
  },
  (table) => [primaryKey({ columns: [table.jobId, table.seq] })]
)

// The points of a sweep that have a result or an error, until the job completes.
export const jobPoints = pgTable(
  'job_points',
  {
    jobId: uuid('job_id')
      .notNull()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    // Its place in the job's parameters, from 0.
    index: integer('index').notNull(),
    // JSON text of an object: the fields of its result, or `error`.
    outcome: text('outcome').notNull(),
    failed: boolean('failed').notNull(),
    // Of `outcome`, in UTF-8.
    sizeBytes: integer('size_bytes').notNull()
  },
  (table) => [primaryKey({ columns: [table.jobId, table.index] })]
)

// One row for each run that the executor accepted. Closing requires the state `running`, so a late worker changes
// nothing.
export const attempts = pgTable(
  'attempts',
  {
    jobId: uuid('job_id')
      .notNull()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    // '' for a plain job's only task.
    task: text('task').notNull().default(''),
    number: integer('number').notNull(),
    generation: integer('generation').notNull(),
    state: text('state').$type<AttemptState>().notNull(),
    startedAt: instant('started_at').notNull().default(sql`clock_timestamp()`),
    endedAt: instant('ended_at'),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    resultSha256: text('result_sha256'),
    // JSON text: the lines that the result shows in lists, by label.
    summary: text('summary'),
    // How long the next attempt waits after this one.
    backoffMs: integer('backoff_ms'),
    // How far its output is recorded: bytes of text, and bytes that were counted alone. A script that is replayed in the
    // same attempt prints again what is recorded already.
    outputBytes: integer('output_bytes').notNull().default(0),
    outputDropped: integer('output_dropped').notNull().default(0)
  },
  (table) => [primaryKey({ columns: [table.jobId, table.task, table.number] })]
)

// What a script requests from the service while it runs, and the answer: the results of a task graph, or the counts of
// a circuit on a backend that the sandbox cannot reach. A script that runs again gets its earlier answers at once.
export const scriptRequests = pgTable(
  'job_asks',
  {
    jobId: uuid('job_id')
      .notNull()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    // The requester: '' is the script itself, otherwise a task of its graph.
    task: text('task').notNull().default(''),
    // Counts the requests of this task, from 1. A try after a failed one makes its requests again.
    number: integer('number').notNull(),
    // The number of the last failed attempt before this request. Its answer serves all tries until the next failure.
    series: integer('series').notNull().default(0),
    kind: text('kind').$type<'graph' | 'circuit'>().notNull(),
    // Hex SHA-256 of the request without anything that can differ between two runs of the same script.
    digest: text('digest').notNull(),
    // The graph's output is the job's result, and the script has finished.
    final: boolean('final').notNull().default(false),
    // JSON text. Graph: { name, output, dot }; circuit: { openqasm3, facts, shots }.
    body: text('body').notNull(),
    state: text('state').$type<'open' | 'answered'>().notNull(),
    // JSON text: { counts } or { error } for a circuit. For a graph, the answer is the stored results of its tasks.
    answer: text('answer'),
    // The executor's run that waits for the answer for a limited time.
    parkedAs: text('parked_as'),
    // The id of the executor that holds that run. `null`: unknown.
    executor: text('executor'),
    createdAt: instant('created_at').notNull().default(sql`clock_timestamp()`),
    answeredAt: instant('answered_at')
  },
  (table) => [primaryKey({ columns: [table.jobId, table.task, table.number] })]
)

// A task of a graph. Inserted when its graph is requested, and changed by conditional updates.
export const jobTasks = pgTable(
  'job_tasks',
  {
    jobId: uuid('job_id')
      .notNull()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    // `task_0001`; in a second graph `2.task_0001`.
    key: text('key').notNull(),
    // The number of the request that contains the task, and the position of the task in it.
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
    // Digests of rows in task_values: the pickled function, its arguments, its return value.
    functionSha256: text('function_sha256').notNull(),
    argumentsSha256: text('arguments_sha256').notNull(),
    resultSha256: text('result_sha256'),
    // The return value as plain JSON when it can be written so; otherwise the reason why not.
    displaySha256: text('display_sha256'),
    displayProblem: text('display_problem'),
    // Up to two different numbers of shots with which it ran circuits; null when that is not known.
    deviceShots: integer('device_shots').array(),
    // The task's output, truncated.
    stdout: text('stdout'),
    // Executions that began since the last one whose end was recorded.
    executionsBegun: integer('executions_begun').notNull().default(0),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    startedAt: instant('started_at'),
    completedAt: instant('completed_at')
  },
  (table) => [primaryKey({ columns: [table.jobId, table.key] })]
)

// Functions, arguments and results of a job's tasks, without duplicates. They can hold pickled values, which only the
// sandbox opens.
export const taskValues = pgTable(
  'task_values',
  {
    jobId: uuid('job_id')
      .notNull()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    // Hex.
    sha256: text('sha256').notNull(),
    sizeBytes: integer('size_bytes').notNull(),
    ...contentColumns
  },
  (table) => [
    primaryKey({ columns: [table.jobId, table.sha256] }),
    index('task_values_unmoved_idx').on(table.jobId, table.sha256).where(unmoved),
    index('task_values_moving_idx').on(table.objectAt).where(moving)
  ]
)

// The files that a job produced, by name. Each is written once.
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
    ...contentColumns,
    createdAt: instant('created_at').notNull().default(sql`clock_timestamp()`)
  },
  (table) => [
    primaryKey({ columns: [table.jobId, table.name, table.sha256] }),
    index('artifacts_unmoved_idx').on(table.jobId, table.name, table.sha256).where(unmoved),
    index('artifacts_moving_idx').on(table.objectAt).where(moving)
  ]
)

// Which contents of a job were removed when their time was over (db/deletion/content-retention.ts).
export const removedContents = pgTable(
  'removed_contents',
  {
    jobId: uuid('job_id')
      .notNull()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    kind: text('kind').$type<ContentKind>().notNull(),
    removedAt: instant('removed_at').notNull().default(sql`clock_timestamp()`)
  },
  (table) => [primaryKey({ columns: [table.jobId, table.kind] })]
)

// What a dispatch target still has to receive. A row is written in the transaction that makes it necessary. A `start`
// row lives until the job leaves `pending`, a `cancel` row until the job is final. In a steady state only deferred jobs
// have rows.
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
    // The earliest start (`not_before` of the job).
    dueAt: instant('due_at').notNull(),
    // When the relay checks the row next.
    nextAt: instant('next_at').notNull(),
    deliveries: integer('deliveries').notNull().default(0),
    // Why the relay defers a due row.
    heldReason: text('held_reason').$type<DeferralReason | null>(),
    // Since when the dispatch target has been unreachable without interruption; null while it can be reached.
    unreachableSince: instant('unreachable_since'),
    createdAt: instant('created_at').notNull().defaultNow()
  },
  (table) => [
    primaryKey({ columns: [table.jobId, table.kind] }),
    // The pass of the relay for one dispatch target.
    index('outbox_mode_next_at_idx').on(table.mode, table.nextAt),
    // A team's next deferred job, when one of its jobs ends.
    index('outbox_held_idx').on(table.teamId, table.jobId).where(sql`held_reason = 'concurrency_limit'`),
    // Jobs that are deferred until a backend is online.
    index('outbox_offline_idx').on(table.backend, table.jobId).where(sql`held_reason = 'backend_offline'`),
    // A team's delivered starts that no worker has claimed: to compare with its limit, and its next direct job.
    index('outbox_begins_idx').on(table.teamId, table.mode, table.jobId).where(sql`kind = 'start' and deliveries > 0`)
  ]
)
