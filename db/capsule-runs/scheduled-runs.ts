// Runs that a schedule makes: one for each time at which it is due, or its refusal with the reason. Whether a run is made is
// decided by the rows in its transaction: what the engine was told may be old.
import { and, between, eq, inArray, isNotNull, ne, sql } from 'drizzle-orm'
import { mayBeIn } from '../../domain/capsules/capsule-actions.js'
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
import { createRun, type NewRun } from './capsule-runs.js'
import { recordRefusedRun } from './refused-runs.js'

/** `skipped`: the run before is still under way. `not due`: the schedule is over, paused, or was changed meanwhile. */
export type ScheduledStart =
  | { next: 'await'; runId: string }
  | { next: 'end'; outcome: 'refused' | 'skipped' | 'not due'; runId: string | null }

const DAY_MS = 24 * 3_600_000

/**
 * Makes the run that was due at `scheduledAt`. Asked again, it answers what it did.
 * @param at now; `limit` scheduled runs a team may have in 24 hours.
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
    if (!schedule || !isMeant(schedule, version, scheduledAt) || !mayBeIn('schedule', capsule.state))
      return { next: 'end', outcome: 'not due', runId: null }
    if (await isUnderWay(tx, capsuleId)) return { next: 'end', outcome: 'skipped', runId: null }
    const run = await makeRun(tx, { capsule, schedule, team, scheduledAt, at, limit })
    return run.refused ? { next: 'end', outcome: 'refused', runId: run.runId } : { next: 'await', runId: run.runId }
  })
}

/** The version that the engine started it from need not be the present one. */
function isMeant({ version, paused, cron, timezone }: ScheduleRow, startedFrom: number, scheduledAt: Date): boolean {
  if (paused) return false
  return version === startedFrom || isDue(readCron(cron), timezone, scheduledAt)
}

export interface TeamStanding {
  /** Why the team may not run anything now. */
  refusal: string | null
}

async function capsuleOf(tx: DbOrTx, capsuleId: string): Promise<CapsuleRow | null> {
  const [row] = await tx.select().from(capsules).where(eq(capsules.id, capsuleId))
  return row ?? null
}

/** Scheduled runs of a team come one after the other, so that its limit is exact; suspension waits for them. */
export async function lockTeam(tx: Tx, teamId: string): Promise<TeamStanding> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`scheduled runs ${teamId}`}, 0))`)
  const [team] = await tx
    .select({ suspendedAt: teams.suspendedAt, deletedAt: teams.deletedAt })
    .from(teams)
    .where(eq(teams.id, teamId))
    .for('share')
  if (!team || team.deletedAt) return { refusal: 'The team is gone' }
  return { refusal: team.suspendedAt ? 'The team is suspended' : null }
}

async function runOf(tx: Tx, capsuleId: string, scheduledAt: Date) {
  const [run] = await tx
    .select({ id: capsuleRuns.id, status: capsuleRuns.status })
    .from(capsuleRuns)
    .where(and(eq(capsuleRuns.capsuleId, capsuleId), eq(capsuleRuns.scheduledAt, scheduledAt)))
    // What was refused may have been made up for.
    .orderBy(sql`${capsuleRuns.status} = 'refused'`)
    .limit(1)
  return run ?? null
}

/** The engine skips it by itself, unless it has lost what it knew. Back-filled runs and those of people count for themselves. */
async function isUnderWay(tx: Tx, capsuleId: string): Promise<boolean> {
  const [run] = await tx
    .select({ id: capsuleRuns.id })
    .from(capsuleRuns)
    .where(
      and(
        eq(capsuleRuns.capsuleId, capsuleId),
        eq(capsuleRuns.trigger, 'schedule'),
        inArray(capsuleRuns.status, ['pending', 'running', 'judging'])
      )
    )
    .limit(1)
  return run !== undefined
}

/** The run of one time, or its refusal; both are rows. The team is locked. */
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
    if (runId === null) throw new Error(`the run of ${capsule.id} at ${scheduledAt.toISOString()} was made meanwhile`)
    return { runId, refused: reason }
  }
  if (team.refusal) return refuse(team.refusal)
  if ((await runsSince(tx, capsule.teamId, new Date(at.getTime() - DAY_MS))) >= limit)
    return refuse(`The team has had its ${limit} scheduled runs of the last 24 hours`)
  try {
    // What a refused run has written is undone, what came before it stays.
    const { runId } = await tx.transaction((inner) => createRun(inner, { ...run, at }))
    return { runId, refused: null }
  } catch (error) {
    if (error instanceof ServiceError) return refuse(error.message)
    throw error
  }
}

/** Who set the schedule up, else who owns the capsule, as long as they belong to the team. */
async function ownerOfRuns(tx: DbOrTx, { createdBy }: ScheduleRow, { teamId, ownerId }: CapsuleRow) {
  const candidates = [createdBy, ownerId].filter((id) => id !== null)
  if (candidates.length === 0) return null
  const rows = await tx
    .select({ id: members.userId })
    .from(members)
    .where(and(eq(members.teamId, teamId), inArray(members.userId, candidates)))
  return candidates.find((id) => rows.some((row) => row.id === id)) ?? null
}

/** Scheduled and back-filled runs of the team that were made since then; refused ones cost nothing. */
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

/** What became of a run; `null` while it goes on, `gone` when its capsule was deleted with it. */
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
  /** Times that have a run already. */
  passedOver: number
}

/**
 * Makes the runs of these times, all of them or none. Times that have a run already are passed over; a refused one is none.
 * The team is locked (`lockTeam`), and so is the capsule.
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
      `These are ${times.length} runs, and the team has had ${had} of its ${limit} scheduled runs of the last 24 hours; choose fewer`,
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
