// Sends one mail, once, and reports the outcome. The sender of stored mails decides whether to try again.
import {
  fileNameOf,
  isAddress,
  type Mail,
  type MailSettings,
  mailRoute,
  messageOf,
  type Sender,
  senderOf
} from './message.js'
import { isRefusedForGood, type MailRoute, mailFault } from './route.js'

/** `refused`: another try is useless. `reason` is for the log and contains nothing of the mail. */
export type MailOutcome = { outcome: 'sent' } | { outcome: 'refused' | 'failed'; reason: Record<string, unknown> }

export interface MailClient {
  /** @param id of the mail, the same for every try. @param signal cuts the connection. */
  send(mail: Mail, id: string, signal: AbortSignal): Promise<MailOutcome>
  close(): void
}

/** Limit for each of: the server's address, its greeting, and any silence. */
const SILENCE_MS = 10_000
/** Limit for one try, however often the server responds. */
const TRY_MS = 30_000

/** The time limits of one try; the defaults suit a server on the internet. */
export interface TryLimits {
  silenceMs?: number
  tryMs?: number
}

/**
 * @param connections to the server at once.
 * @returns `null` when no mail server or folder is configured. @throws Error naming the setting that cannot be used, never
 * its value.
 */
export function createMailClient(
  settings: MailSettings,
  connections: number,
  { silenceMs = SILENCE_MS, tryMs = TRY_MS }: TryLimits = {}
): MailClient | null {
  const from = senderOf(settings.from)
  const route = mailRoute(settings, { connections, silenceMs })
  if (!route) return null
  let count = 0
  return {
    async send(mail, id, signal) {
      if (!isAddress(mail.to)) return { outcome: 'refused', reason: { message: 'the recipient is not one address' } }
      return sendOnce(route, from, mail, id, ++count, AbortSignal.any([signal, AbortSignal.timeout(tryMs)]))
    },
    close: () => route.close()
  }
}

async function sendOnce(
  route: MailRoute,
  from: Sender,
  mail: Mail,
  id: string,
  count: number,
  signal: AbortSignal
): Promise<MailOutcome> {
  const date = new Date()
  try {
    await route.deliver(messageOf(from, mail.to, mail, id, date), fileNameOf(date, count), signal)
    return { outcome: 'sent' }
  } catch (error) {
    return { outcome: isRefusedForGood(error) ? 'refused' : 'failed', reason: mailFault(error) }
  }
}
