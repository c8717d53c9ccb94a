// Sends the mails that transactions have written: links to invitations and new passwords, ends of jobs, alerts of
// schedules. A failed mail is tried again after growing pauses, by whichever worker is free, until the server accepts it,
// refuses it for good, or all tries are used. Links to new passwords come before all other mails.
import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import { postponeAlertMail, removeAlertMail, takeAlertMail } from '../../../db/capsule-runs/alert-mails.js'
import type { Db } from '../../../db/client.js'
import { postponeMail, removeMail, takeMail } from '../../../db/jobs/job-mails.js'
import {
  postponeSealedMail,
  removeSealedMail,
  type TakenMail,
  takeSealedMail
} from '../../../db/service/sealed-mails.js'
import type { KeyRing } from '../../../services/keys/key-ring.js'
import type { MailClient, MailOutcome } from '../../../services/mail/mail-client.js'
import { openMail } from '../../../services/mail/mailer.js'
import { domainOf, type Mail, subjectOf } from '../../../services/mail/message.js'
import { alertMail, jobEndMail } from '../../../services/mail/text.js'
import type { MessageOutcome } from '../metrics.js'
import type { SweepReports } from './sweep-reports.js'
import { startLoop, type TimerLoop } from './timer-loop.js'

/** A small mail server accepts this many from one client without complaint. */
export const MAIL_CONNECTIONS = 2

export interface MailTimes {
  /** How often a loop without work looks for some. */
  lookMs: number
  /** Before the second, third, ... try; one more try than pauses. */
  retrySeconds: readonly number[]
  /** The same for a mail with a link, which its recipient waits for and which expires. */
  linkRetrySeconds: readonly number[]
}

export const defaultMailTimes: MailTimes = {
  lookMs: 1_000,
  // A restart, an outage, a weekend without an operator: about three days.
  retrySeconds: [30, 300, 1_800, 7_200, 21_600, 86_400, 172_800],
  // A lost connection, a restart, and the five minutes for which servers defer a sender they do not know.
  linkRetrySeconds: [1, 10, 60, 300, 1_800, 7_200, 21_600, 86_400, 172_800]
}

export interface MailSenderDeps {
  db: Db
  client: MailClient
  /** `null`: mails with links cannot be opened, and wait. */
  keyRing: KeyRing | null
  /** Start of the links to jobs and capsules; `null`: those mails have none. */
  linkOrigin: string | null
  times: MailTimes
  reports: SweepReports
  countMail(outcome: MessageOutcome): void
  log: Logger
}

export function startMailSender(deps: MailSenderDeps): TimerLoop {
  const { client, times, reports, log } = deps
  const report = reports.of('job_mails', times.lookMs)
  const closing = new AbortController()
  const loops = Array.from({ length: MAIL_CONNECTIONS }, () =>
    startLoop(
      'mails',
      times.lookMs,
      log,
      async () => {
        const pending = (await pendingLinkMail(deps)) ?? (await pendingJobMail(deps)) ?? (await pendingAlertMail(deps))
        if (!pending) return { handled: 0 }
        await tryOnce(deps, pending, closing.signal)
        return { handled: 1, more: true }
      },
      report
    )
  )
  return {
    name: 'mails',
    async close() {
      // A mail under way stays in the database, and the next worker tries it.
      closing.abort()
      await Promise.all(loops.map((loop) => loop.close()))
      client.close()
    }
  }
}

/** A sealed mail whose key is not in the ring now; an operator may put it back. */
interface Unopened {
  unopened: string
}

/** A mail that was taken for one try. */
interface PendingMail {
  /** The same for every try. */
  id: string
  /** For the log. */
  about: Record<string, unknown>
  what: string
  /** `null`: it is no longer to be sent. */
  mail: Mail | Unopened | null
  tries: number
  retrySeconds: readonly number[]
  remove(): Promise<void>
  postpone(error: string, seconds: number): Promise<void>
}

async function pendingLinkMail({ db, keyRing, times }: MailSenderDeps): Promise<PendingMail | null> {
  const taken = keyRing && (await takeSealedMail(db))
  if (!taken) return null
  const { tries } = taken
  const mail = taken.expired ? null : openedMail(keyRing, taken)
  const names = mail && 'to' in mail ? { domain: domainOf(mail.to), subject: subjectOf(mail) } : { mailId: taken.id }
  return {
    id: `link-${taken.id}`,
    about: { ...names, tries },
    what: 'a mail with a link',
    mail,
    tries,
    retrySeconds: times.linkRetrySeconds,
    remove: () => removeSealedMail(db, taken),
    postpone: (error, seconds) => postponeSealedMail(db, taken, error, seconds)
  }
}

function openedMail(keyRing: KeyRing, taken: TakenMail): Mail | Unopened {
  try {
    return openMail(keyRing, taken)
  } catch (error) {
    return { unopened: (error as Error).message }
  }
}

async function pendingJobMail({ db, linkOrigin, times }: MailSenderDeps): Promise<PendingMail | null> {
  const taken = await takeMail(db)
  if (!taken) return null
  const { jobId, email, tries } = taken
  const link = linkOrigin && `${linkOrigin}/api/jobs/${jobId}`
  return {
    id: `job-${jobId}`,
    about: { jobId, tries },
    what: 'a mail about a job',
    mail: email === null ? null : { to: email, ...jobEndMail({ ...taken, link }) },
    tries,
    retrySeconds: times.retrySeconds,
    remove: () => removeMail(db, taken),
    postpone: (error, seconds) => postponeMail(db, taken, error, seconds)
  }
}

async function pendingAlertMail({ db, linkOrigin, times }: MailSenderDeps): Promise<PendingMail | null> {
  const taken = await takeAlertMail(db)
  if (!taken) return null
  const { runId, email, tries, alert, proved } = taken
  const link = alert && linkOrigin && `${linkOrigin}/api/capsules/${alert.capsuleId}/verifications`
  return {
    // One id per address: with the id of the run alone, several mails would count as one.
    id: `alert-${runId}-${createHash('sha256').update(email.toLowerCase()).digest('hex').slice(0, 16)}`,
    about: { capsuleRunId: runId, tries },
    what: 'a mail about a verification',
    mail: alert && { to: email, ...alertMail({ ...alert, capsuleName: proved ? alert.capsuleName : null, link }) },
    tries,
    retrySeconds: times.retrySeconds,
    remove: () => removeAlertMail(db, taken),
    postpone: (error, seconds) => postponeAlertMail(db, taken, error, seconds)
  }
}

async function tryOnce({ client, countMail, log }: MailSenderDeps, pending: PendingMail, signal: AbortSignal) {
  const { about, what, mail } = pending
  if (mail === null) {
    log.info(about, `${what} was dropped: its recipient is gone, or its link has expired`)
    return pending.remove()
  }
  const sent = 'unopened' in mail ? unopenable(mail) : await client.send(mail, pending.id, signal)
  if (sent.outcome === 'sent') {
    countMail('sent')
    log.info(about, `${what} was sent`)
    return pending.remove()
  }
  const pause = pending.retrySeconds[pending.tries - 1]
  if (signal.aborted) return pending.postpone('the worker stopped', 0)
  if (sent.outcome === 'refused' || pause === undefined) {
    countMail('given_up')
    const check =
      'unopened' in mail ? 'the keys in SECRETS_KEYS' : 'the mail server in SMTP_URL, or the folder in MAIL_DIR'
    log.error({ ...about, ...sent.reason }, `${what} was given up; check ${check}`)
    return pending.remove()
  }
  countMail('failed')
  log.warn({ ...about, ...sent.reason, pauseSeconds: pause }, `${what} was not sent and will be tried again`)
  return pending.postpone(JSON.stringify(sent.reason), pause)
}

const unopenable = ({ unopened }: Unopened): MailOutcome => ({ outcome: 'failed', reason: { message: unopened } })
