// Alerts of schedules. An unexpected verdict is confirmed by one more run before an alert is sent. One transaction ends
// a run and decides about its alert, so no alert is sent twice or lost.
import { and, desc, eq, gt, inArray, isNotNull, isNull, ne, or, sql } from 'drizzle-orm'
import { ServiceError } from '../../domain/errors.js'
import { ALERT_REPEAT_SECONDS, type AlertOutcome, alertOutcomes } from '../../domain/verification/schedule-names.js'
import { loadSchedule, type ScheduleRow } from '../capsules/capsule-schedules.js'
import type { DbOrTx, Tx } from '../client.js'
import { teams } from '../tables/accounts.js'
import { capsuleAlertMails, capsuleRuns, capsules } from '../tables/capsules.js'
import { membersByAddress } from '../teams/members.js'
import { recordTeamEvent } from '../teams/webhook-deliveries.js'
import { hasOpenRun, type CapsuleRunRow as Run, runColumns } from './capsule-run-records.js'
import { createRun } from './capsule-runs.js'

/**
 * Continues after a verification has finished: creates the confirming run, or sends the alert. Must run in the transaction
 * that writes the verdict or the failure, after that and before its audit entry. Does nothing for runs that no schedule
 * created, and for expected verdicts.
 */
export async function afterVerdict(tx: Tx, runId: string, at = new Date()): Promise<void> {
  const run = await loadAlertedRun(tx, runId)
  if (run?.mode !== 'verify' || run.trigger === 'request') return
  const schedule = await loadSchedule(tx, run.capsuleId)
  if (!schedule || schedule.alertOn.length === 0) return
  await lockAlerts(tx, run.capsuleId)
  if (run.trigger === 'confirmation') {
    const first = run.confirms === null ? null : await loadAlertedRun(tx, run.confirms)
    if (!first || first.alertedAt !== null) return
    // The confirmation was cancelled, or has no verdict while the first run had one. The first run is then reported
    // unconfirmed.
    const isInconclusive = run.verdict === null && (run.status === 'cancelled' || first.verdict !== null)
    const outcome = outcomeOf(isInconclusive ? first : run)
    if (isToBeReported(schedule, outcome) && !(await isReportedAlready(tx, run, outcome, at)))
      await sendAlert(tx, schedule, first, { outcome, confirmedBy: isInconclusive ? null : run })
    return
  }
  const outcome = outcomeOf(run)
  if (!isToBeReported(schedule, outcome) || (await isReportedAlready(tx, run, outcome, at))) return
  // One confirmation counts for every run of the capsule that waits for it.
  if (await hasOpenRun(tx, run.capsuleId, 'confirmation')) return
  if (await confirm(tx, run, at)) return
  await sendAlert(tx, schedule, run, { outcome, confirmedBy: null })
}

/**
 * Sends an alert when the runs of a schedule begin to be refused: once, until one of them can be created again, and at
 * most once a day. Must run in the transaction that records the refusal, before its audit entry.
 */
export async function afterRefusal(tx: Tx, runId: string, at = new Date()): Promise<void> {
  const run = await loadAlertedRun(tx, runId)
  if (run?.trigger !== 'schedule') return
  const schedule = await loadSchedule(tx, run.capsuleId)
  if (!schedule?.alertOn.includes('failed')) return
  await lockAlerts(tx, run.capsuleId)
  if (!(await isRefusalReported(tx, run, at)))
    await sendAlert(tx, schedule, run, { outcome: 'failed', confirmedBy: null })
}

/** Serialises the alerts of a capsule: of several runs that end at once, only one is confirmed and reported. */
const lockAlerts = (tx: Tx, capsuleId: string) =>
  tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`alerts ${capsuleId}`}, 0))`)

const isOutcome = (value: string | null): value is AlertOutcome =>
  (alertOutcomes as readonly (string | null)[]).includes(value)

/** The outcome that an alert can report; `null` for any other. */
function outcomeOf({ status, verdict }: Run): AlertOutcome | null {
  const outcome = status === 'completed' ? verdict : status
  return isOutcome(outcome) ? outcome : null
}

const isToBeReported = ({ alertOn }: ScheduleRow, outcome: AlertOutcome | null): outcome is AlertOutcome =>
  outcome !== null && alertOn.includes(outcome)

async function loadAlertedRun(tx: Tx, runId: string): Promise<Run | null> {
  const [run] = await tx.select(runColumns).from(capsuleRuns).where(eq(capsuleRuns.id, runId))
  return run ?? null
}

/** Whether the same outcome was reported recently, and no good verification followed. */
async function isReportedAlready(tx: Tx, run: Run, outcome: AlertOutcome, at: Date): Promise<boolean> {
  const ofCapsule = eq(capsuleRuns.capsuleId, run.capsuleId)
  const [reported] = await tx
    .select(runColumns)
    .from(capsuleRuns)
    .where(and(ofCapsule, isNotNull(capsuleRuns.alertedAt), ne(capsuleRuns.status, 'refused')))
    .orderBy(desc(capsuleRuns.alertedAt))
    .limit(1)
  if (!reported || outcomeOf(reported) !== outcome) return false
  if (at.getTime() - reported.alertedAt!.getTime() >= ALERT_REPEAT_SECONDS * 1000) return false
  const [well] = await tx
    .select({ id: capsuleRuns.id })
    .from(capsuleRuns)
    .where(
      and(
        ofCapsule,
        gt(capsuleRuns.completedAt, reported.alertedAt!),
        eq(capsuleRuns.status, 'completed'),
        inArray(capsuleRuns.verdict, ['exact', 'consistent'])
      )
    )
    .limit(1)
  return well === undefined
}

async function isRefusalReported(tx: Tx, run: Run, at: Date): Promise<boolean> {
  const ofSchedule = and(eq(capsuleRuns.capsuleId, run.capsuleId), eq(capsuleRuns.trigger, 'schedule'))
  const [reported] = await tx
    .select({ id: capsuleRuns.id, at: capsuleRuns.alertedAt })
    .from(capsuleRuns)
    .where(and(ofSchedule, eq(capsuleRuns.status, 'refused'), isNotNull(capsuleRuns.alertedAt)))
    .orderBy(desc(capsuleRuns.id))
    .limit(1)
  if (!reported) return false
  if (at.getTime() - reported.at!.getTime() < ALERT_REPEAT_SECONDS * 1000) return true
  const [made] = await tx
    .select({ id: capsuleRuns.id })
    .from(capsuleRuns)
    .where(and(ofSchedule, gt(capsuleRuns.id, reported.id), ne(capsuleRuns.status, 'refused')))
    .limit(1)
  return made === undefined
}

/** Creates the confirming run. @returns `false` when it cannot run now. */
async function confirm(tx: Tx, run: Run, at: Date): Promise<boolean> {
  const [team] = await tx.select({ suspendedAt: teams.suspendedAt }).from(teams).where(eq(teams.id, run.teamId))
  if (team?.suspendedAt) return false
  try {
    await tx.transaction((inner) =>
      createRun(inner, {
        capsuleId: run.capsuleId,
        mode: 'verify',
        trigger: 'confirmation',
        owner: { userId: run.userId, keyId: null },
        actor: 'system',
        confirms: run.id,
        at
      })
    )
    return true
  } catch (error) {
    if (error instanceof ServiceError) return false
    throw error
  }
}

/** @param confirmedBy `null` when there was no second run, or it had no verdict. */
async function sendAlert(
  tx: Tx,
  schedule: ScheduleRow,
  first: Run,
  { outcome, confirmedBy }: { outcome: AlertOutcome; confirmedBy: Run | null }
): Promise<void> {
  const [mine] = await tx
    .update(capsuleRuns)
    .set({ alertedAt: sql`clock_timestamp()` })
    .where(and(eq(capsuleRuns.id, first.id), isNull(capsuleRuns.alertedAt)))
    .returning({ alertedAt: capsuleRuns.alertedAt })
  if (!mine) return
  // Addresses that no longer belong to members of the team get no mail.
  const recipients = await membersByAddress(tx, first.teamId, schedule.alertEmails)
  if (recipients.size > 0)
    await tx
      .insert(capsuleAlertMails)
      .values([...recipients.values()].map(({ email }) => ({ runId: first.id, email })))
      .onConflictDoNothing()
  await recordTeamEvent(tx, first.teamId, 'capsule.verified', {
    alert: true,
    capsule_id: first.capsuleId,
    team_id: first.teamId,
    capsule_run_id: first.id,
    scheduled_at: first.scheduledAt?.toISOString() ?? null,
    outcome,
    refused: first.status === 'refused',
    verdict: confirmedBy ? confirmedBy.verdict : first.verdict,
    confirmed: confirmedBy !== null,
    confirmed_by: confirmedBy?.id ?? null
  })
}

/** The content of an alert mail. */
export interface Alert {
  runId: string
  capsuleId: string
  capsuleName: string
  scheduledAt: Date | null
  /** The run that the schedule created. */
  first: { outcome: string; reason: string | null; tvd: number | null; margin: number | null }
  /** The run that confirmed it; `null` when there was none. */
  second: { outcome: string; reason: string | null; tvd: number | null; margin: number | null } | null
}

export async function loadAlert(db: DbOrTx, runId: string): Promise<Alert | null> {
  const rows = await db
    .select({ run: runColumns, name: capsules.name })
    .from(capsuleRuns)
    .innerJoin(capsules, eq(capsules.id, capsuleRuns.capsuleId))
    .where(or(eq(capsuleRuns.id, runId), eq(capsuleRuns.confirms, runId)))
  const first = rows.find(({ run }) => run.id === runId)
  if (!first) return null
  const second = rows.find(({ run }) => run.confirms === runId && inOutcomes(run))
  return {
    runId,
    capsuleId: first.run.capsuleId,
    capsuleName: first.name,
    scheduledAt: first.run.scheduledAt,
    first: toAlertOutcome(first.run),
    second: second ? toAlertOutcome(second.run) : null
  }
}

const inOutcomes = (run: Run): boolean => outcomeOf(run) !== null

function toAlertOutcome({ status, verdict, reason, verification }: Run): Alert['first'] {
  const number = (value: unknown) => (typeof value === 'number' ? value : null)
  const report = (verification ?? {}) as { tvd?: unknown; margin?: unknown; reason?: unknown }
  return {
    outcome: verdict ?? status,
    reason: reason ?? (typeof report.reason === 'string' ? report.reason : null),
    tvd: number(report.tvd),
    margin: number(report.margin)
  }
}
