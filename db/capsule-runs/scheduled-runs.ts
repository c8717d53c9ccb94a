// Runs that a schedule creates: one for each due time, or a refusal with the reason. The rows decide in their
// transaction whether a run is created, since Temporal's copy of the schedule can be outdated.
import { and, between, eq, inArray, isNotNull, ne, sql } from 'drizzle-orm'
import { isAllowedIn } from '../../domain/capsules/capsule-actions.js'
import { ServiceError } from '../../domain/errors.js'
import { rateLimits } from '../../domain/teams/rate-limits.js'
import { isDue, readCron } from '../../domain/verification/schedule.js'
import type { ScheduledCapsule } from '../../domain/verification/schedule-names.js'
import { loadSchedule, type ScheduleRow } from '../capsules/capsule-schedules.js'
import type { CapsuleRow } from '../capsules/capsules.js'
import type { Db, DbOrTx, Tx } from '../client.js'
import { firstIdAt } from '../ids.js'
import { members, teams } from '../tables/accounts.js'
import { capsuleRuns, capsules } from '../tables/capsules.js'
import { hasOpenRun } from './capsule-run-records.js'
import { createRun, type NewRun } from './capsule-runs.js'
import { recordRefusedRun } from './refused-runs.js'

/** `skipped`: the previous run has not finished. `not due`: the schedule was deleted, paused or changed. */
export type ScheduledStart =
  | { next: 'await'; runId: string }
  | { next: 'end'; outcome: 'refused' | 'skipped' | 'not due'; runId: string | null }

const DAY_MS = 24 * 3_600_000

/**
 * Creates the run that was due at `scheduledAt`. A repeated call returns the same outcome.
 * @param at the current time; `limit` is how many scheduled runs a team can have in 24 hours.
 */
export async function startScheduledRun(
  db: Db,
  { capsuleId, version, scheduledAt }: ScheduledCapsule & { scheduledAt: Date },
  { at, limit = rateLimits.scheduled.max }: { at: Date; limit?: number }
): Promise<ScheduledStart> {
  return db.transaction(async (tx) => {
    const capsule = await capsuleOf(tx, capsuleId)
    if (!capsule) return { next: 'end', outcome: 'not due', runId: null }
    const team = await lockTeam(tx, capsule.teamId)
    const made = await runOf(tx, capsuleId, scheduledAt)
    if (made?.status === 'refused') return { next: 'end', outcome: 'refused', runId: made.id }
    if (made) return { next: 'await', runId: made.id }
    const schedule = await loadSchedule(tx, capsuleId)
    if (!schedule || !isStillDue(schedule, version, scheduledAt) || !isAllowedIn('schedule', capsule.state))
      return { next: 'end', outcome: 'not due', runId: null }
    // Temporal skips an overlapping run itself, unless it has lost its state. Backfilled and requested runs do not count.
    if (await hasOpenRun(tx, capsuleId, 'schedule')) return { next: 'end', outcome: 'skipped', runId: null }
    const run = await makeRun(tx, { capsule, schedule, team, scheduledAt, at, limit })
    return run.refused ? { next: 'end', outcome: 'refused', runId: run.runId } : { next: 'await', runId: run.runId }
  })
}

/** Whether the current schedule still has this time. Temporal may have started it from an older version. */
function isStillDue({ version, paused, cron, timezone }: ScheduleRow, startedFrom: number, scheduledAt: Date): boolean {
  if (paused) return false
  return version === startedFrom || isDue(readCron(cron), timezone, scheduledAt)
}

export interface TeamStanding {
  /** Why the team cannot run anything now. */
  refusal: string | null
}

async function capsuleOf(tx: DbOrTx, capsuleId: string): Promise<CapsuleRow | null> {
  const [row] = await tx.select().from(capsules).where(eq(capsules.id, capsuleId))
  return row ?? null
}

/** Serialises the scheduled runs of a team, so that its limit is exact. A suspension waits for them. */
export async function lockTeam(tx: Tx, teamId: string): Promise<TeamStanding> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`scheduled runs ${teamId}`}, 0))`)
  const [team] = await tx
    .select({ suspendedAt: teams.suspendedAt, deletedAt: teams.deletedAt })
    .from(teams)
    .where(eq(teams.id, teamId))
    .for('share')
  if (!team || team.deletedAt) return { refusal: 'The team was deleted' }
  return { refusal: team.suspendedAt ? 'The team is suspended' : null }
}

async function runOf(tx: Tx, capsuleId: string, scheduledAt: Date) {
  const [run] = await tx
    .select({ id: capsuleRuns.id, status: capsuleRuns.status })
    .from(capsuleRuns)
    .where(and(eq(capsuleRuns.capsuleId, capsuleId), eq(capsuleRuns.scheduledAt, scheduledAt)))
    // A refused run can be followed by a successful one for the same time.
    .orderBy(sql`${capsuleRuns.status} = 'refused'`)
    .limit(1)
  return run ?? null
}

/** Records the run of one time, or its refusal. The caller has locked the team. */
async function makeRun(
  tx: Tx,
  due: {
    capsule: CapsuleRow
    schedule: ScheduleRow
    team: TeamStanding
    scheduledAt: Date
    at: Date
    limit: number
  }
): Promise<{ runId: string; refused: string | null }> {
  const { capsule, schedule, team, scheduledAt, at, limit } = due
  const run = {
    capsuleId: capsule.id,
    mode: 'verify' as const,
    trigger: 'schedule' as const,
    owner: { userId: await ownerOfRuns(tx, schedule, capsule), keyId: null },
    actor: 'system',
    scheduledAt
  }
  const refuse = async (reason: string) => {
    const runId = await recordRefusedRun(tx, { ...run, reason })
    if (runId === null)
      throw new Error(`the run of ${capsule.id} at ${scheduledAt.toISOString()} was created by another transaction`)
    return { runId, refused: reason }
  }
  if (team.refusal) return refuse(team.refusal)
  if ((await runsSince(tx, capsule.teamId, new Date(at.getTime() - DAY_MS))) >= limit)
    return refuse(`The team has used its ${limit} scheduled runs of the last 24 hours`)
  try {
    // A savepoint: what a refused run wrote is undone, and everything before it stays.
    const { runId } = await tx.transaction((inner) => createRun(inner, { ...run, at }))
    return { runId, refused: null }
  } catch (error) {
    if (error instanceof ServiceError) return refuse(error.message)
    throw error
  }
}

/** The user who set up the schedule, or else the owner of the capsule, while they are members of the team. */
async function ownerOfRuns(tx: DbOrTx, { createdBy }: ScheduleRow, { teamId, ownerId }: CapsuleRow) {
  const candidates = [createdBy, ownerId].filter((id) => id !== null)
  if (candidates.length === 0) return null
  const rows = await tx
    .select({ id: members.userId })
    .from(members)
    .where(and(eq(members.teamId, teamId), inArray(members.userId, candidates)))
  return candidates.find((id) => rows.some((row) => row.id === id)) ?? null
}

/** Scheduled and backfilled runs of the team since then. Refused ones do not count. */
async function runsSince(tx: DbOrTx, teamId: string, since: Date): Promise<number> {
  const [counted] = await tx
    .select({ runs: sql<number>`count(*)::int` })
    .from(capsuleRuns)
    .where(
      and(
        eq(capsuleRuns.teamId, teamId),
        isNotNull(capsuleRuns.scheduledAt),
        sql`${capsuleRuns.id} >= ${firstIdAt(since)}`,
        sql`${capsuleRuns.status} <> 'refused'`
      )
    )
  return counted!.runs
}

/** The outcome of a run; `null` while it is open, `gone` when it was deleted with its capsule. */
export async function outcomeOfRun(db: DbOrTx, runId: string): Promise<string | null> {
  const [run] = await db
    .select({ status: capsuleRuns.status, verdict: capsuleRuns.verdict })
    .from(capsuleRuns)
    .where(eq(capsuleRuns.id, runId))
  if (!run) return 'gone'
  if (['pending', 'running', 'judging'].includes(run.status)) return null
  return run.verdict ?? run.status
}

export interface Backfill {
  /** In order. */
  made: { runId: string; scheduledAt: Date }[]
  /** How many times have a run already. */
  passedOver: number
}

/**
 * Creates the runs of these times, all or none. Times that have a run are skipped; a refused run does not count. The
 * caller has locked the team (`lockTeam`) and the capsule.
 * @throws ServiceError `rate_limited`, and as `createRun` does.
 */
export async function backfillRuns(
  tx: Tx,
  due: Pick<NewRun, 'owner' | 'actor' | 'at' | 'mayUse'> & { capsule: CapsuleRow; times: Date[]; limit?: number }
): Promise<Backfill> {
  const { capsule, times: _, limit = rateLimits.scheduled.max, ...run } = due
  const times = await timesWithoutRun(tx, capsule.id, due.times)
  const had = await runsSince(tx, capsule.teamId, new Date(run.at.getTime() - DAY_MS))
  if (had + times.length > limit)
    throw new ServiceError(
      'rate_limited',
      `These are ${times.length} runs, and the team has used ${had} of its ${limit} scheduled runs of the last 24 hours; choose fewer`,
      { retryAfterSeconds: 3_600 }
    )
  const made: Backfill['made'] = []
  for (const scheduledAt of times) {
    const { runId } = await createRun(tx, {
      ...run,
      capsuleId: capsule.id,
      mode: 'verify',
      trigger: 'backfill',
      scheduledAt
    })
    made.push({ runId, scheduledAt })
  }
  return { made, passedOver: due.times.length - times.length }
}

async function timesWithoutRun(tx: DbOrTx, capsuleId: string, times: Date[]): Promise<Date[]> {
  if (times.length === 0) return []
  const rows = await tx
    .select({ scheduledAt: capsuleRuns.scheduledAt })
    .from(capsuleRuns)
    .where(
      and(
        eq(capsuleRuns.capsuleId, capsuleId),
        between(capsuleRuns.scheduledAt, times[0]!, times.at(-1)!),
        ne(capsuleRuns.status, 'refused')
      )
    )
  const taken = new Set(rows.map(({ scheduledAt }) => scheduledAt!.getTime()))
  return times.filter((time) => !taken.has(time.getTime()))
}
