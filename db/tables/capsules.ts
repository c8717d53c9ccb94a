// Capsules: a definition (of a job, or of a workflow of tasks), the evidence of its runs, its seal, and its runs. The
// definition, files and seal of a sealed capsule never change: triggers refuse it (db/migrations), and digests reveal
// it.
import { sql } from 'drizzle-orm'
import {
  type AnyPgColumn,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid
} from 'drizzle-orm/pg-core'
import type {
  CapsuleRunMode,
  CapsuleRunStatus,
  CapsuleRunTrigger,
  CapsuleState
} from '../../domain/capsules/capsule-state.js'
import type { AlertOutcome } from '../../domain/verification/schedule-names.js'
import type { Verdict } from '../../domain/verification/verdict.js'
import { teams, users } from './accounts.js'
import { contentColumns, instant, micro, moving, unmoved } from './columns.js'
import { apiKeys } from './teams.js'

export const capsules = pgTable(
  'capsules',
  {
    id: uuid('id').primaryKey(),
    teamId: uuid('team_id')
      .notNull()
      .references(() => teams.id, { onDelete: 'cascade' }),
    ownerId: uuid('owner_id').references(() => users.id, { onDelete: 'set null' }),
    name: text('name').notNull(),
    description: text('description').notNull().default(''),
    tags: jsonb('tags').$type<string[]>().notNull(),
    state: text('state').$type<CapsuleState>().notNull(),
    // JSON text of a CapsuleDefinition (domain/capsules/capsule-definition.ts). It stays text, since a JSON parser
    // could round its numbers.
    definition: text('definition').notNull(),
    // Hex SHA-256 of the definition's canonical form. It identifies the definition of a run.
    definitionSha256: text('definition_sha256').notNull(),
    backends: jsonb('backends').$type<string[]>().notNull(),
    maxBudget: micro('max_budget_micro'),
    retentionYears: integer('retention_years'),
    regulatoryFramework: text('regulatory_framework'),
    // The job that it was made from. No reference, since the capsule outlives the job.
    sourceJobId: uuid('source_job_id'),
    clonedFrom: uuid('cloned_from').references((): AnyPgColumn => capsules.id, { onDelete: 'set null' }),
    // `mqc:1:<hex>` of the sealed capsule that this one continues.
    derivedFrom: text('derived_from'),
    // What an imported package claims about itself. It is recorded as provenance only and never trusted.
    imported: jsonb('imported').$type<Record<string, unknown> | null>(),
    createdAt: instant('created_at').notNull().defaultNow(),
    updatedAt: instant('updated_at').notNull().defaultNow()
  },
  (table) => [
    // Lists of a team, newest first; and lists of an owner.
    index('capsules_team_idx').on(table.teamId, table.id, table.state),
    index('capsules_owner_idx').on(table.ownerId, table.id),
    // A capsule by the end of its id.
    index('capsules_id_end_idx').on(table.teamId, sql`right(id::text, 8)`),
    // One capsule per job that requested it at submission.
    index('capsules_source_job_idx').on(table.sourceJobId).where(sql`source_job_id is not null`)
  ]
)

// The files of the evidence. A capsule made from a job has them from its creation, any other from its seal.
export const capsuleFiles = pgTable(
  'capsule_files',
  {
    capsuleId: uuid('capsule_id')
      .notNull()
      .references(() => capsules.id, { onDelete: 'cascade' }),
    // A path with `/`, for example tasks/main/result.json.
    name: text('name').notNull(),
    // Hex.
    sha256: text('sha256').notNull(),
    sizeBytes: integer('size_bytes').notNull(),
    mediaType: text('media_type').notNull(),
    ...contentColumns
  },
  (table) => [
    primaryKey({ columns: [table.capsuleId, table.name] }),
    index('capsule_files_unmoved_idx').on(table.capsuleId, table.name).where(unmoved),
    index('capsule_files_moving_idx').on(table.objectAt).where(moving)
  ]
)

export const capsuleSeals = pgTable('capsule_seals', {
  capsuleId: uuid('capsule_id')
    .primaryKey()
    .references(() => capsules.id, { onDelete: 'cascade' }),
  // The exact bytes of capsule.yaml and .checksums. They are never written again.
  manifest: text('manifest').notNull(),
  checksums: text('checksums').notNull(),
  // `sha256:<hex>` of .checksums, and `mqc:1:<hex>` of the manifest.
  rootDigest: text('root_digest').notNull(),
  capsuleDigest: text('capsule_digest').notNull(),
  exitCode: integer('exit_code').notNull(),
  exitMessage: text('exit_message'),
  // The total variation distance that a verification tolerates, as decimal text.
  margin: text('margin').notNull(),
  // Set when the sealed shots are too few for the margin, or a task cannot be compared.
  warnings: jsonb('warnings').$type<string[]>().notNull().default([]),
  // Why every verification ends as not_testable. Null also for seals of earlier releases.
  untestable: text('untestable'),
  // No reference: the seal outlives the account.
  sealedBy: uuid('sealed_by').notNull(),
  sealedAt: instant('sealed_at').notNull(),
  keyId: text('key_id').notNull(),
  // JSON text of the DSSE envelope.
  envelope: text('envelope').notNull()
})

export const capsulePublications = pgTable(
  'capsule_publications',
  {
    capsuleId: uuid('capsule_id')
      .primaryKey()
      .references(() => capsules.id, { onDelete: 'cascade' }),
    slug: text('slug').notNull(),
    title: text('title').notNull(),
    description: text('description').notNull(),
    readme: text('readme'),
    license: text('license'),
    category: text('category'),
    tags: jsonb('tags').$type<string[]>().notNull(),
    publishedAt: instant('published_at').notNull(),
    takenDownAt: instant('taken_down_at'),
    takedownReason: text('takedown_reason')
  },
  (table) => [
    uniqueIndex('capsule_publications_slug_key').on(table.slug),
    index('capsule_publications_published_at_idx').on(table.publishedAt).where(sql`taken_down_at is null`)
  ]
)

// For every capsule: what its runs have spent and reserved, to compare with `max_budget`.
export const capsuleBudgets = pgTable('capsule_budgets', {
  capsuleId: uuid('capsule_id')
    .primaryKey()
    .references(() => capsules.id, { onDelete: 'cascade' }),
  spent: micro('spent_micro').notNull(),
  reserved: micro('reserved_micro').notNull()
})

export const capsuleRuns = pgTable(
  'capsule_runs',
  {
    id: uuid('id').primaryKey(),
    capsuleId: uuid('capsule_id')
      .notNull()
      .references(() => capsules.id, { onDelete: 'cascade' }),
    teamId: uuid('team_id').notNull(),
    mode: text('mode').$type<CapsuleRunMode>().notNull(),
    trigger: text('trigger').$type<CapsuleRunTrigger>().notNull(),
    userId: uuid('user_id').references(() => users.id, { onDelete: 'set null' }),
    apiKeyId: uuid('api_key_id').references(() => apiKeys.id, { onDelete: 'set null' }),
    status: text('status').$type<CapsuleRunStatus>().notNull(),
    // Why the run failed or was refused.
    reason: text('reason'),
    // The JSON text of what ran, and its digest. The digest equals that of the capsule's definition when the run
    // overrode nothing.
    definition: text('definition').notNull(),
    definitionSha256: text('definition_sha256').notNull(),
    // Set for scheduled runs: the time that the schedule named.
    scheduledAt: instant('scheduled_at'),
    // Set for confirmations: the run whose verdict it confirms.
    confirms: uuid('confirms').references((): AnyPgColumn => capsuleRuns.id, { onDelete: 'cascade' }),
    verdict: text('verdict').$type<Verdict | null>(),
    // JSON of the Verification report (domain/verification).
    verification: jsonb('verification').$type<Record<string, unknown> | null>(),
    // When an alert about an unexpected verdict was sent.
    alertedAt: instant('alerted_at'),
    createdAt: instant('created_at').notNull().defaultNow(),
    startedAt: instant('started_at'),
    completedAt: instant('completed_at')
  },
  (table) => [
    // Runs of a capsule, newest first.
    index('capsule_runs_capsule_idx').on(table.capsuleId, table.id),
    // A run of a capsule by the end of its id.
    index('capsule_runs_id_end_idx').on(table.capsuleId, sql`right(id::text, 8)`),
    // The sweep of runs that have not finished.
    index('capsule_runs_open_idx').on(table.id).where(sql`status in ('pending', 'running', 'judging')`),
    // A team's next run to judge.
    index('capsule_runs_judging_idx').on(table.teamId, table.id).where(sql`status = 'judging'`),
    // One run for each scheduled time (a refused one can be repeated), and one confirmation for each run.
    uniqueIndex('capsule_runs_scheduled_key')
      .on(table.capsuleId, table.scheduledAt)
      .where(sql`scheduled_at is not null and status <> 'refused'`),
    uniqueIndex('capsule_runs_confirms_key').on(table.confirms).where(sql`confirms is not null`),
    // How many scheduled runs a team had within a day.
    index('capsule_runs_scheduled_team_idx').on(table.teamId, table.id).where(sql`scheduled_at is not null`)
  ]
)

// The jobs of a run, one per task, created with the run in starting order. The progress of a task is the status of its
// job.
export const capsuleRunTasks = pgTable(
  'capsule_run_tasks',
  {
    runId: uuid('run_id')
      .notNull()
      .references(() => capsuleRuns.id, { onDelete: 'cascade' }),
    position: integer('position').notNull(),
    name: text('name').notNull(),
    jobId: uuid('job_id').notNull()
  },
  (table) => [
    primaryKey({ columns: [table.runId, table.position] }),
    uniqueIndex('capsule_run_tasks_job_key').on(table.jobId)
  ]
)

export const capsuleSchedules = pgTable('capsule_schedules', {
  capsuleId: uuid('capsule_id')
    .primaryKey()
    .references(() => capsules.id, { onDelete: 'cascade' }),
  cron: text('cron').notNull(),
  timezone: text('timezone').notNull(),
  paused: boolean('paused').notNull(),
  alertEmails: jsonb('alert_emails').$type<string[]>().notNull(),
  alertOn: jsonb('alert_on').$type<AlertOutcome[]>().notNull(),
  // Raised by each change. The Temporal schedule carries the version that it was made from.
  version: integer('version').notNull().default(1),
  createdBy: uuid('created_by').references(() => users.id, { onDelete: 'set null' }),
  // The version that Temporal last received; null when it has none yet.
  appliedVersion: integer('applied_version'),
  // Why Temporal refused that version.
  refusal: text('refusal'),
  // The schedule was deleted. The row is removed once the copy in Temporal is gone.
  endedAt: instant('ended_at'),
  createdAt: instant('created_at').notNull().defaultNow(),
  updatedAt: instant('updated_at').notNull().defaultNow()
})

// Mails about an unexpected verdict, one per address, until each is sent or abandoned.
export const capsuleAlertMails = pgTable(
  'capsule_alert_mails',
  {
    runId: uuid('run_id')
      .notNull()
      .references(() => capsuleRuns.id, { onDelete: 'cascade' }),
    email: text('email').notNull(),
    tries: integer('tries').notNull().default(0),
    nextAt: instant('next_at').notNull().default(sql`clock_timestamp()`),
    lastError: text('last_error')
  },
  (table) => [
    primaryKey({ columns: [table.runId, table.email] }),
    index('capsule_alert_mails_next_at_idx').on(table.nextAt)
  ]
)
