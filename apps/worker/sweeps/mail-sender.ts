// Mails the submitters of jobs that have ended, and whom the schedules of capsules name, a few at once. A mail is tried again after growing pauses, by whichever
// worker looks next, until the server has it, refuses it for good, or was tried often enough.
import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import { postponeAlertMail, removeAlertMail, takeAlertMail } from '../../../db/capsule-runs/alert-mails.js'
import type { Db } from '../../../db/client.js'
import { postponeMail, removeMail, takeMail } from '../../../db/jobs/job-mails.js'
import type { Postman } from '../../../services/mail/mail-client.js'
import { alertMail, jobEndMail, type MailText } from '../../../services/mail/text.js'
import type { SweepNotes } from './sweep-notes.js'
import { startLoop, type TimerLoop } from './timer-loop.js'

/** What a small mail server takes from one client without complaint. */
export const MAIL_LANES = 2

export interface MailTimes {
  /** How often a lane without work looks for some. */
  lookMs: number
  /** Before the second, third, ... try; one more try than pauses. */
  retrySeconds: readonly number[]
}

export const defaultMailTimes: MailTimes = {
  lookMs: 2_000,
  // A restart, an outage, a weekend's worth of nobody looking at the mail server: about three days.
  retrySeconds: [30, 300, 1_800, 7_200, 21_600, 86_400, 172_800]
}

export interface MailSenderDeps {
  db: Db
  postman: Postman
  /** What links begin with; `null`: mails have none. */
  linkOrigin: string | null
  times: MailTimes
  notes: SweepNotes
  log: Logger
}

export function startMailSender(deps: MailSenderDeps): TimerLoop {
  const { postman, times, notes, log } = deps
  const note = notes.of('job_mails', times.lookMs)
  const closing = new AbortController()
  const lanes = Array.from({ length: MAIL_LANES }, () =>
    startLoop(
      'mails',
      times.lookMs,
      log,
      async () => {
        const letter = (await pendingJobMail(deps)) ?? (await pendingAlertMail(deps))
        if (!letter) return { handled: 0 }
        await tryOnce(deps, letter, closing.signal)
        return { handled: 1, more: true }
      },
      note
    )
  )
  return {
    async close() {
      // What is under way stays written down, and is tried by the next worker.
      closing.abort()
      await Promise.all(lanes.map((lane) => lane.close()))
      postman.close()
    }
  }
}

/** A mail that was taken for one try. */
interface PendingMail {
  /** The same for every try. */
  id: string
  /** For the log. */
  about: Record<string, unknown>
  what: string
  /** `null`: whom it was for is gone. */
  mail: (MailText & { to: string }) | null
  tries: number
  remove(): Promise<void>
  postpone(error: string, seconds: number): Promise<void>
}

async function pendingJobMail({ db, linkOrigin }: MailSenderDeps): Promise<PendingMail | null> {
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
    remove: () => removeMail(db, taken),
    postpone: (error, seconds) => postponeMail(db, taken, error, seconds)
  }
}

async function pendingAlertMail({ db, linkOrigin }: MailSenderDeps): Promise<PendingMail | null> {
  const taken = await takeAlertMail(db)
  if (!taken) return null
  const { runId, email, tries, alert } = taken
  const link = alert && linkOrigin && `${linkOrigin}/api/capsules/${alert.capsuleId}/verifications`
  return {
    // One for each address: the run alone would make of several mails one.
    id: `alert-${runId}-${createHash('sha256').update(email.toLowerCase()).digest('hex').slice(0, 16)}`,
    about: { capsuleRunId: runId, tries },
    what: 'a mail about a verification',
    mail: alert && { to: email, ...alertMail({ ...alert, link }) },
    tries,
    remove: () => removeAlertMail(db, taken),
    postpone: (error, seconds) => postponeAlertMail(db, taken, error, seconds)
  }
}

async function tryOnce({ postman, times, log }: MailSenderDeps, letter: PendingMail, signal: AbortSignal) {
  const { about, what, mail } = letter
  if (mail === null) {
    log.info(about, `${what} was dropped: whom it was for is gone`)
    return letter.remove()
  }
  const posting = await postman.post(mail, letter.id, signal)
  if (posting.outcome === 'sent') {
    log.info(about, `${what} was sent`)
    return letter.remove()
  }
  const pause = times.retrySeconds[letter.tries - 1]
  if (signal.aborted) return letter.postpone('the worker stopped', 0)
  if (posting.outcome === 'refused' || pause === undefined) {
    log.error(
      { ...about, ...posting.reason },
      `${what} was given up; the reason is the mail server that SMTP_URL names, or the folder MAIL_DIR`
    )
    return letter.remove()
  }
  log.warn({ ...about, ...posting.reason, pauseSeconds: pause }, `${what} was not sent; it is tried again`)
  return letter.postpone(JSON.stringify(posting.reason), pause)
}
