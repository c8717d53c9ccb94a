// Alert mails (db/capsule-runs/capsule-alerts.ts), one per address. They are taken, tried and removed like mails about
// jobs (db/jobs/job-mails.ts): the count of tries is the fence.
import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../client.js'
import { members, users } from '../tables/accounts.js'
import { capsuleAlertMails, capsuleRuns } from '../tables/capsules.js'
import { type Alert, loadAlert } from './capsule-alerts.js'

/** How long a taken mail belongs to its sender, which needs at most the time limit of one try. */
const TAKEN_SECONDS = 120

export interface AlertMail {
  runId: string
  email: string
  /** The number of tries, including this one. */
  tries: number
  /** `null` when no member of the team has the address any more. */
  alert: Alert | null
  /** Whether the member has proved the address; without, the mail holds no text of the team. */
  proved: boolean
}

/**
 * Takes the mail that has been due longest, or returns `null` when none is due. Skips mails that other senders have
 * taken.
 */
export async function takeAlertMail(db: Db): Promise<AlertMail | null> {
  const due = db
    .$with('due')
    .as(
      db
        .select({ runId: capsuleAlertMails.runId, email: capsuleAlertMails.email })
        .from(capsuleAlertMails)
        .where(sql`${capsuleAlertMails.nextAt} <= now()`)
        .orderBy(capsuleAlertMails.nextAt)
        .limit(1)
        .for('update', { skipLocked: true })
    )
  const [taken] = await db
    .with(due)
    .update(capsuleAlertMails)
    .set({
      tries: sql`${capsuleAlertMails.tries} + 1`,
      nextAt: sql`now() + make_interval(secs => ${TAKEN_SECONDS})`
    })
    .from(due)
    .where(and(eq(capsuleAlertMails.runId, due.runId), eq(capsuleAlertMails.email, due.email)))
    .returning({
      runId: capsuleAlertMails.runId,
      email: capsuleAlertMails.email,
      tries: capsuleAlertMails.tries
    })
  if (!taken) return null
  const [member] = await db
    .select({ provedAt: users.emailVerifiedAt })
    .from(capsuleRuns)
    .innerJoin(members, eq(members.teamId, capsuleRuns.teamId))
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(capsuleRuns.id, taken.runId), sql`lower(${users.email}) = lower(${taken.email})`))
  const proved = member?.provedAt != null
  return { ...taken, alert: member ? await loadAlert(db, taken.runId) : null, proved }
}

type Taken = Pick<AlertMail, 'runId' | 'email' | 'tries'>

/** The mail was sent, or has no recipient any more. */
export async function removeAlertMail(db: Db, taken: Taken): Promise<void> {
  await db.delete(capsuleAlertMails).where(isTaken(taken))
}

/** The try failed for a temporary reason. The next one is due after `seconds`. */
export async function postponeAlertMail(db: Db, taken: Taken, error: string, seconds: number): Promise<void> {
  await db
    .update(capsuleAlertMails)
    .set({ lastError: error, nextAt: sql`now() + make_interval(secs => ${seconds})` })
    .where(isTaken(taken))
}

const isTaken = ({ runId, email, tries }: Taken) =>
  and(eq(capsuleAlertMails.runId, runId), eq(capsuleAlertMails.email, email), eq(capsuleAlertMails.tries, tries))
