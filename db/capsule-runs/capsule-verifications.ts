// The verdict of a run: which worker judges it, what is compared, and the record of the outcome.
import { and, eq, sql } from 'drizzle-orm'
import { MAIN_TASK } from '../../domain/capsules/capsule-definition.js'
import { storableText } from '../../domain/json/json-guard.js'
import type { Turns } from '../../domain/teams/turns.js'
import type { Verification } from '../../domain/verification/report.js'
import type { TaskRuns } from '../../domain/verification/statistics/circuit-pairs.js'
import { appendAudit } from '../audit/audit.js'
import { runSha256 } from '../audit/audit-records.js'
import { anyOf, type DbOrTx, type Tx } from '../client.js'
import { now } from '../clock.js'
import { ContentLost, digestIn, wholeObject } from '../content-store.js'
import { resultText } from '../jobs/attempts.js'
import { teams } from '../tables/accounts.js'
import { backends } from '../tables/backends.js'
import { capsuleFiles, capsuleRuns, capsuleRunTasks, capsuleSeals, capsules } from '../tables/capsules.js'
import { jobs } from '../tables/jobs.js'
import { recordTeamEvent } from '../teams/webhook-deliveries.js'
import { afterVerdict } from './capsule-alerts.js'
import { type CapsuleRunRow, runColumns } from './capsule-run-records.js'

/** How many waiting runs are examined for one that no worker is judging: of each team, and of how many teams. */
const RUNS_LOOKED_AT = 5
const TEAMS_LOOKED_AT = 100

/**
 * Claims a run for its verdict, until the transaction ends: the run that has waited longest of the team whose turn it is.
 * Skips runs that other workers are judging; such a run is free again as soon as its worker disconnects. No row is locked,
 * so that the record can lock rows in its own order.
 * @param except runs to skip this time.
 */
export async function takeRunToJudge(
  tx: Tx,
  turns: Turns,
  except: readonly string[] = []
): Promise<{ id: string; teamId: string } | null> {
  const judging = sql`status = 'judging' and not ${anyOf(capsuleRuns.id, [...except])}`
  // Steps from team to team by the index, not from row to row.
  const waiting = await tx.execute<{ id: string; teamId: string }>(sql`
    with recursive team as (
        (select team_id from ${capsuleRuns} where status = 'judging' order by team_id limit 1)
        union all
        select (select team_id from ${capsuleRuns} where status = 'judging' and team_id > team.team_id
          order by team_id limit 1)
        from team where team_id is not null)
    select oldest.id, oldest.team_id as "teamId" from (select team_id from team where team_id is not null) team
      cross join lateral (
        select id, team_id from ${capsuleRuns} where team_id = team.team_id and ${judging}
        order by id limit ${RUNS_LOOKED_AT}) oldest
      order by oldest.id limit ${TEAMS_LOOKED_AT * RUNS_LOOKED_AT}`)
  const left = waiting.map((run) => ({ run, key: run.teamId, inUse: 0 }))
  while (true) {
    const next = turns.next(left)
    if (!next) return null
    left.splice(left.indexOf(next), 1)
    const { id, teamId } = next.run
    const [lock] = await tx.execute<{ mine: boolean }>(
      sql`select pg_try_advisory_xact_lock(hashtextextended(${`judge ${id}`}, 0)) as mine`
    )
    if (lock!.mine && (await isJudging(tx, id))) {
      turns.served(teamId)
      return { id, teamId }
    }
  }
}

async function isJudging(tx: Tx, runId: string): Promise<boolean> {
  const [run] = await tx.select({ status: capsuleRuns.status }).from(capsuleRuns).where(eq(capsuleRuns.id, runId))
  return run?.status === 'judging'
}

export interface ToJudge {
  tasks: TaskRuns[]
  /** The margin declared when the capsule was sealed; `null` before that. */
  margin: number | null
}

/** The results that a verdict compares; or the reason why there are none. */
export async function loadToJudge(db: DbOrTx, runId: string): Promise<ToJudge | string> {
  const [run] = await db
    .select({
      capsuleId: capsuleRuns.capsuleId,
      margin: capsuleSeals.margin,
      jobId: jobs.id,
      resultSha256: jobs.resultSha256,
      completedAt: jobs.completedAt,
      deviceType: backends.deviceType,
      engine: backends.engine
    })
    .from(capsuleRuns)
    .innerJoin(capsuleRunTasks, eq(capsuleRunTasks.runId, capsuleRuns.id))
    .innerJoin(jobs, eq(jobs.id, capsuleRunTasks.jobId))
    .leftJoin(backends, eq(backends.slug, jobs.backend))
    .leftJoin(capsuleSeals, eq(capsuleSeals.capsuleId, capsuleRuns.capsuleId))
    .where(eq(capsuleRuns.id, runId))
  if (!run?.resultSha256) return 'the run has no result'
  const sealed = await evidenceFile(db, run.capsuleId, 'result.json')
  const timing = await evidenceFile(db, run.capsuleId, 'timing.json')
  if (sealed === null || timing === null) return 'the capsule has no result to compare with'
  if (sealed === CHANGED || timing === CHANGED)
    return 'the evidence of the capsule does not match its digest: it was changed in the database'
  const rerun = await resultText(db, run.jobId, run.resultSha256)
  if (rerun === null) return 'the result of the run has been deleted'
  const { completed_at: sealedAt } = JSON.parse(timing) as { completed_at?: string }
  // A verification runs on the backend of the sealed run, so these facts hold for both.
  const machine = { hardware: run.deviceType === 'qpu', local: run.engine !== null }
  return {
    tasks: [
      {
        name: MAIN_TASK,
        sealed: { text: sealed, facts: { ...machine, completedAt: sealedAt ?? null } },
        rerun: { text: rerun, facts: { ...machine, completedAt: run.completedAt?.toISOString() ?? null } }
      }
    ],
    margin: run.margin === null ? null : Number(run.margin)
  }
}

const CHANGED = Symbol('changed')

async function evidenceFile(db: DbOrTx, capsuleId: string, name: string): Promise<string | typeof CHANGED | null> {
  const path = `tasks/${MAIN_TASK}/${name}`
  const [file] = await db
    .select({
      content: capsuleFiles.content,
      isIntact: sql<boolean | null>`encode(sha256(${capsuleFiles.content}), 'hex') = ${capsuleFiles.sha256}`,
      sha256: capsuleFiles.sha256,
      sizeBytes: capsuleFiles.sizeBytes,
      key: capsuleFiles.objectKey
    })
    .from(capsuleFiles)
    .where(and(eq(capsuleFiles.capsuleId, capsuleId), eq(capsuleFiles.name, path)))
  if (!file) return null
  if (file.content) return file.isIntact ? file.content.toString('utf8') : CHANGED
  try {
    const content = await wholeObject(db, file.key!, file.sizeBytes)
    return digestIn(file.key!) === file.sha256 ? content.toString('utf8') : CHANGED
  } catch (error) {
    if (error instanceof ContentLost) return CHANGED
    throw error
  }
}

/**
 * Records the outcome of judging a run, once: with its audit entry, the webhook event of the verdict, and the
 * consequences for a schedule.
 * @param found a report; or the reason why the results cannot be compared at all, which fails the run.
 * @returns whether this call did it.
 */
export async function recordJudged(tx: Tx, runId: string, found: Verification | string): Promise<boolean> {
  const capsule = await lockCapsuleOf(tx, runId)
  const [run] = await tx
    .update(capsuleRuns)
    .set({ ...endOf(found), completedAt: now })
    .where(and(eq(capsuleRuns.id, runId), eq(capsuleRuns.status, 'judging')))
    .returning(runColumns)
  if (!capsule || !run) return false
  if (typeof found !== 'string') await recordTeamEvent(tx, run.teamId, 'capsule.verified', eventOf(run, found))
  await afterVerdict(tx, runId)
  await sendVerdict(
    tx,
    capsule,
    run,
    typeof found === 'string' ? { verdict: null, reason: run.reason } : figuresOf(found)
  )
  return true
}

const endOf = (found: Verification | string) =>
  typeof found === 'string'
    ? ({ status: 'failed', reason: storableText(found) } as const)
    : ({ status: 'completed', verdict: found.verdict, verification: { ...found } } as const)

const figuresOf = ({ verdict, p_values, tvd, tvd_upper, margin, reason }: Verification) => ({
  verdict,
  p_value: p_values.combined,
  tvd,
  tvd_upper,
  margin,
  reason
})

/** The webhook event of a verdict. */
const eventOf = (run: CapsuleRunRow, verification: Verification) => ({
  alert: false,
  capsule_id: run.capsuleId,
  capsule_run_id: run.id,
  team_id: run.teamId,
  mode: run.mode,
  trigger: run.trigger,
  verdict: verification.verdict,
  method: verification.method,
  alpha: verification.alpha,
  p_values: verification.p_values,
  tvd: verification.tvd,
  tvd_upper: verification.tvd_upper,
  margin: verification.margin,
  confirms: run.confirms,
  scheduled_at: run.scheduledAt?.toISOString() ?? null,
  completed_at: run.completedAt?.toISOString() ?? null
})

type LockedCapsule = Pick<typeof capsules.$inferSelect, 'id' | 'teamId' | 'state'>

/**
 * Locks team and capsule before the run, in the order that creating a run uses, since a confirmation may be created.
 */
async function lockCapsuleOf(tx: Tx, runId: string): Promise<LockedCapsule | null> {
  const [run] = await tx
    .select({ capsuleId: capsuleRuns.capsuleId, teamId: capsuleRuns.teamId })
    .from(capsuleRuns)
    .where(eq(capsuleRuns.id, runId))
  if (!run) return null
  await tx.select({ id: teams.id }).from(teams).where(eq(teams.id, run.teamId)).for('share')
  const [capsule] = await tx
    .select({ id: capsules.id, teamId: capsules.teamId, state: capsules.state })
    .from(capsules)
    .where(eq(capsules.id, run.capsuleId))
    .for('share')
  return capsule ?? null
}

async function sendVerdict(
  tx: Tx,
  capsule: LockedCapsule,
  run: CapsuleRunRow,
  metadata: Record<string, unknown>
): Promise<void> {
  // A capsule that can be verified has one task.
  const [main] = await tx
    .select({ resultSha256: jobs.resultSha256 })
    .from(capsuleRunTasks)
    .innerJoin(jobs, eq(jobs.id, capsuleRunTasks.jobId))
    .where(eq(capsuleRunTasks.runId, run.id))
    .orderBy(capsuleRunTasks.position)
    .limit(1)
  await appendAudit(tx, {
    teamId: capsule.teamId,
    capsuleId: capsule.id,
    action: 'capsule.verified',
    actor: 'system',
    previousState: capsule.state,
    newState: capsule.state,
    metadata: {
      run_id: run.id,
      trigger: run.trigger,
      ...(run.confirms && { confirms: run.confirms }),
      ...metadata,
      run_sha256: runSha256(run),
      ...(main?.resultSha256 && { result_sha256: main.resultSha256 })
    }
  })
}
