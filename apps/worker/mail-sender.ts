// Mails the submitters of jobs that have ended, a few at once. A mail is tried again after growing pauses, by whichever
// worker looks next, until the server has it, refuses it for good, or was tried often enough.
import type { Logger } from 'pino'
import { jobEndMail } from '../../activities/mail-text.js'
import type { Postman } from '../../activities/postman.js'
import type { Db } from '../../db/client.js'
import { type JobMail, postponeMail, removeMail, takeMail } from '../../db/job-mails.js'
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
  const { db, postman, times, notes, log } = deps
  const note = notes.of('job_mails', times.lookMs)
  const closing = new AbortController()
  const lanes = Array.from({ length: MAIL_LANES }, () =>
    startLoop(
      'job mails',
      times.lookMs,
      log,
      async () => {
        const mail = await takeMail(db)
        if (!mail) return { handled: 0 }
        await tryOnce(deps, mail, closing.signal)
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

async function tryOnce({ db, postman, linkOrigin, times, log }: MailSenderDeps, mail: JobMail, signal: AbortSignal) {
  const about = { jobId: mail.jobId, tries: mail.tries }
  if (mail.email === null) {
    log.info(about, 'a mail about a job was dropped: its submitter is gone')
    return removeMail(db, mail)
  }
  const link = linkOrigin && `${linkOrigin}/api/jobs/${mail.jobId}`
  const posting = await postman.post({ to: mail.email, ...jobEndMail({ ...mail, link }) }, `job-${mail.jobId}`, signal)
  if (posting.outcome === 'sent') {
    log.info(about, 'a mail about a job was sent')
    return removeMail(db, mail)
  }
  const pause = times.retrySeconds[mail.tries - 1]
  if (signal.aborted) return postponeMail(db, mail, 'the worker stopped', 0)
  if (posting.outcome === 'refused' || pause === undefined) {
    log.error(
      { ...about, ...posting.reason },
      'a mail about a job was given up; the reason is the mail server that SMTP_URL names, or the folder MAIL_DIR'
    )
    return removeMail(db, mail)
  }
  log.warn({ ...about, ...posting.reason, pauseSeconds: pause }, 'a mail about a job was not sent; it is tried again')
  return postponeMail(db, mail, JSON.stringify(posting.reason), pause)
}
