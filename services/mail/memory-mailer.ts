// Sends mail. Nobody waits for it: `send` puts a mail into memory and returns; a few lanes hand what waits to the SMTP
// server, or write it into a folder, and try again after growing pauses. A mail that was not sent when the process dies is
// lost, which breaks no promise: an invitation can be sent again, and a forgotten password asked for again.
//
// Bodies hold links that are as good as passwords. The log gets the recipient's domain and the subject, and of a server's
// reply only its codes, since servers like to quote what they refuse.
import { randomUUID } from 'node:crypto'
import type { SendMailOptions } from 'nodemailer'
import type { Logger } from 'pino'
import {
  domainOf,
  fileNameOf,
  isAddress,
  type Mail,
  type MailSettings,
  mailRoute,
  messageOf,
  senderOf,
  subjectOf
} from './message.js'
import { isRefusedForGood, type MailRoute, mailFault } from './route.js'

export interface Mailer {
  /** Mails go somewhere: a server or a folder is configured. */
  readonly sends: boolean
  /** Takes a mail and returns at once. Never throws: what becomes of the mail is in the log. */
  send(mail: Mail): void
  /**
   * Takes no more mails. Those that wait for their next try get it now, as their last. Resolves when all are sent or given
   * up, at the latest after `graceMs`; what is left then is given up and its connection cut.
   */
  close(graceMs: number): Promise<void>
}

export interface MailTimes {
  /** Before the second, third, ... try; one more try than pauses. */
  pausesMs: readonly number[]
  /** How long the server may take to be found, to greet, and to say nothing. */
  silenceMs: number
  /** How long one try may take, however often the server says something. */
  tryMs: number
}

const defaultTimes: MailTimes = {
  // A blink, a restart, an outage, and the five minutes for which servers put off a sender they do not know.
  pausesMs: [1_000, 10_000, 60_000, 300_000],
  silenceMs: 10_000,
  tryMs: 30_000
}

/** Some kilobytes each. More come only from somebody who floods, or while the server is away for long. */
const MAILS_MAX = 1_000
/** What a small mail server takes from one client without complaint. */
const CONNECTIONS = 4

interface PendingMail {
  message: SendMailOptions
  /** Names that sort in the order of sending, the same for all tries, and tell nothing of the recipient. */
  fileName: string
  /** What the log may say. */
  about: { domain: string; subject: string }
  tries: number
  /** Until the next try. */
  pause?: NodeJS.Timeout
}

/** @throws Error naming the setting that cannot be used, never its value. */
export function createMailer(
  options: MailSettings & { log: Pick<Logger, 'info' | 'warn' | 'error'>; times?: MailTimes }
): Mailer {
  const { log, times = defaultTimes } = options
  const from = senderOf(options.from)
  const route = mailRoute(options, { connections: CONNECTIONS, silenceMs: times.silenceMs })
  if (!route) log.warn('mails go nowhere: set SMTP_URL, or MAIL_DIR to have them written to files')

  /** All that are not sent yet: ready, under way, or in a pause. */
  const held = new Set<PendingMail>()
  const ready: PendingMail[] = []
  let underWay = 0
  let count = 0
  let closing: Promise<void> | null = null
  let whenEmpty: (() => void) | null = null

  function pendingMailFor(mail: Mail, to: string, about: PendingMail['about']): PendingMail {
    const date = new Date()
    const message = messageOf(from, to, mail, randomUUID(), date)
    return { message, fileName: fileNameOf(date, ++count), about, tries: 0 }
  }

  function work(deliver: MailRoute['deliver']): void {
    while (underWay < CONNECTIONS && ready.length > 0) {
      underWay++
      void attempt(deliver, ready.shift()!).finally(() => {
        underWay--
        work(deliver)
      })
    }
  }

  /** Does not reject. */
  async function attempt(deliver: MailRoute['deliver'], letter: PendingMail): Promise<void> {
    if (!held.has(letter)) return
    const { about } = letter
    const cut = new AbortController()
    letter.tries++
    const due = setTimeout(() => cut.abort(), times.tryMs)
    try {
      await deliver(letter.message, letter.fileName, cut.signal)
      log.info({ ...about, tries: letter.tries }, 'mail sent')
      release(letter)
    } catch (error) {
      // Given up meanwhile, and said so.
      if (!held.has(letter)) return
      const pauseMs = times.pausesMs[letter.tries - 1]
      const what = { ...about, tries: letter.tries, ...mailFault(error) }
      if (closing || pauseMs === undefined || isRefusedForGood(error)) {
        log.error(what, 'mail given up; the reason is the mail server that SMTP_URL names, or the folder MAIL_DIR')
        release(letter)
      } else {
        log.warn({ ...what, pauseMs }, 'mail not sent; it is tried again after a pause')
        letter.pause = setTimeout(() => {
          letter.pause = undefined
          ready.push(letter)
          work(deliver)
        }, pauseMs)
      }
    } finally {
      clearTimeout(due)
    }
  }

  function release(letter: PendingMail): void {
    held.delete(letter)
    if (held.size === 0) whenEmpty?.()
  }

  async function finish({ deliver, close }: MailRoute, graceMs: number): Promise<void> {
    for (const letter of held)
      if (letter.pause) {
        clearTimeout(letter.pause)
        ready.push(letter)
      }
    work(deliver)
    if (held.size > 0) {
      let grace: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        whenEmpty = resolve
        grace = setTimeout(resolve, graceMs)
      })
      clearTimeout(grace)
    }
    for (const letter of held) {
      held.delete(letter)
      log.error({ ...letter.about, tries: letter.tries }, 'mail given up: the process ends')
    }
    close()
  }

  return {
    sends: route !== null,
    send(mail) {
      const to = mail.to.replace(/[\r\n]/g, '')
      const about = { domain: domainOf(to), subject: subjectOf(mail) }
      if (!route) log.warn(about, 'mail dropped: neither SMTP_URL nor MAIL_DIR is set')
      else if (closing) log.error(about, 'mail dropped: the process ends')
      else if (!isAddress(to)) log.error(about, 'mail dropped: the recipient is not one address')
      else if (held.size >= MAILS_MAX)
        log.error({ ...about, waiting: held.size }, 'mail dropped: too many wait for the mail server')
      else {
        const letter = pendingMailFor(mail, to, about)
        held.add(letter)
        ready.push(letter)
        // Whoever sends has an answer to give first.
        setImmediate(() => work(route.deliver))
      }
    },
    close(graceMs) {
      closing ??= route ? finish(route, graceMs) : Promise.resolve()
      return closing
    }
  }
}
