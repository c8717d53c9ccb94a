// Reads runs of capsules, each with its tasks and the states of their jobs.
import { and, asc, desc, eq, inArray, sql } from 'drizzle-orm'
import type { CapsuleRunStatus, CapsuleRunTrigger } from '../../domain/capsules/capsule-state.js'
import type { JobStatus } from '../../domain/jobs/job-status.js'
import type { Page } from '../../domain/json/page.js'
import type { MicroUsd } from '../../domain/money/money.js'
import { cappedCount, ONE } from '../capped-count.js'
import { anyOf, type DbOrTx } from '../client.js'
import { endsWith } from '../ids.js'
import { capsuleRuns, capsuleRunTasks } from '../tables/capsules.js'
import { jobs } from '../tables/jobs.js'

/** All columns except the definition, which can have megabytes. */
export const runColumns = {
  id: capsuleRuns.id,
  capsuleId: capsuleRuns.capsuleId,
  teamId: capsuleRuns.teamId,
  mode: capsuleRuns.mode,
  trigger: capsuleRuns.trigger,
  userId: capsuleRuns.userId,
  apiKeyId: capsuleRuns.apiKeyId,
  status: capsuleRuns.status,
  reason: capsuleRuns.reason,
  definitionSha256: capsuleRuns.definitionSha256,
  scheduledAt: capsuleRuns.scheduledAt,
  confirms: capsuleRuns.confirms,
  verdict: capsuleRuns.verdict,
  verification: capsuleRuns.verification,
  alertedAt: capsuleRuns.alertedAt,
  createdAt: capsuleRuns.createdAt,
  startedAt: capsuleRuns.startedAt,
  completedAt: capsuleRuns.completedAt
}

/** How many circuits of a report a list shows. A report can have a thousand, and a page a hundred reports. */
export const LISTED_CHECKS_MAX = 20

const { verification } = capsuleRuns
const left = sql`jsonb_array_length(${verification} -> 'checks') - ${LISTED_CHECKS_MAX}`
const firstChecks = sql.raw(`'$.checks[0 to ${LISTED_CHECKS_MAX - 1}]'`)
const listedColumns = {
  ...runColumns,
  verification: sql<CapsuleRunRow['verification']>`case when ${left} > 0 then ${verification} || jsonb_build_object(
    'checks', jsonb_path_query_array(${verification}, ${firstChecks}), 'checks_left_out', ${left})
    else ${verification} end`
}

const runQuery = (db: DbOrTx) => db.select(runColumns).from(capsuleRuns)

export type CapsuleRunRow = Awaited<ReturnType<typeof runQuery>>[number]

/** A task of a run, with the state of its job. */
export interface RunTask {
  name: string
  jobId: string
  status: JobStatus
  backend: string
  shots: number
  estimatedCost: MicroUsd
  actualCost: MicroUsd | null
}

export type CapsuleRun = CapsuleRunRow & { tasks: RunTask[] }

/** A run of the capsule, or `null`. */
export async function loadCapsuleRun(db: DbOrTx, capsuleId: string, runId: string): Promise<CapsuleRun | null> {
  const rows = await runQuery(db).where(and(eq(capsuleRuns.id, runId), eq(capsuleRuns.capsuleId, capsuleId)))
  return (await withTasks(db, rows))[0] ?? null
}

export interface RunFilter extends Page {
  capsuleId: string
  status?: CapsuleRunStatus
  trigger?: CapsuleRunTrigger
  /** The last 8 to 12 characters of the id. */
  idEnd?: string
}

/**
 * Newest first, with only the first circuits of each report.
 * @returns `total` is counted no further than `TOTAL_MAX + 1`.
 */
export async function listRuns(
  db: DbOrTx,
  { capsuleId, status, trigger, idEnd, limit, offset }: RunFilter
): Promise<{ rows: CapsuleRun[]; total: number }> {
  const where = and(
    eq(capsuleRuns.capsuleId, capsuleId),
    status ? eq(capsuleRuns.status, status) : undefined,
    trigger ? eq(capsuleRuns.trigger, trigger) : undefined,
    idEnd ? endsWith(capsuleRuns.id, idEnd) : undefined
  )
  const rows = await db
    .select(listedColumns)
    .from(capsuleRuns)
    .where(where)
    .orderBy(desc(capsuleRuns.id))
    .limit(limit)
    .offset(offset)
  const total = await cappedCount(db, db.select(ONE).from(capsuleRuns).where(where).$dynamic())
  return { rows: await withTasks(db, rows), total }
}

async function withTasks(db: DbOrTx, rows: CapsuleRunRow[]): Promise<CapsuleRun[]> {
  if (rows.length === 0) return []
  const tasks = await db
    .select({
      runId: capsuleRunTasks.runId,
      name: capsuleRunTasks.name,
      jobId: capsuleRunTasks.jobId,
      status: jobs.status,
      backend: jobs.backend,
      shots: jobs.shots,
      estimatedCost: jobs.estimatedCost,
      actualCost: jobs.actualCost
    })
    .from(capsuleRunTasks)
    .innerJoin(jobs, eq(jobs.id, capsuleRunTasks.jobId))
    .where(
      anyOf(
        capsuleRunTasks.runId,
        rows.map(({ id }) => id)
      )
    )
    .orderBy(asc(capsuleRunTasks.position))
  return rows.map((row) => ({ ...row, tasks: tasks.filter(({ runId }) => runId === row.id) }))
}

/** Whether the capsule has a run with this trigger that has not finished. */
export async function hasOpenRun(db: DbOrTx, capsuleId: string, trigger: CapsuleRunTrigger): Promise<boolean> {
  const [open] = await db
    .select({ id: capsuleRuns.id })
    .from(capsuleRuns)
    .where(
      and(
        eq(capsuleRuns.capsuleId, capsuleId),
        eq(capsuleRuns.trigger, trigger),
        inArray(capsuleRuns.status, ['pending', 'running', 'judging'])
      )
    )
    .limit(1)
  return open !== undefined
}
