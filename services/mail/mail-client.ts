// Sends one mail once and says how it went, for whoever keeps mails elsewhere and decides about another try.
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

/** `refused`: for good. `reason` is for the log and holds nothing of the mail. */
export type Posting = { outcome: 'sent' } | { outcome: 'refused' | 'failed'; reason: Record<string, unknown> }

export interface Postman {
  /** @param id of the mail, the same for every try. @param signal cuts the connection. */
  post(mail: Mail, id: string, signal: AbortSignal): Promise<Posting>
  close(): void
}

/** How long the server may take to be found, to greet, and to say nothing. */
const SILENCE_MS = 10_000
/** How long one try may take, however often the server says something. */
const TRY_MS = 30_000

/**
 * @param connections to the server at once.
 * @returns `null` when mails go nowhere. @throws Error naming the setting that cannot be used, never its value.
 */
export function createPostman(settings: MailSettings, connections: number): Postman | null {
  const from = senderOf(settings.from)
  const route = mailRoute(settings, { connections, silenceMs: SILENCE_MS })
  if (!route) return null
  let count = 0
  return {
    async post(mail, id, signal) {
      if (!isAddress(mail.to)) return { outcome: 'refused', reason: { message: 'the recipient is not one address' } }
      return postOnce(route, from, mail, id, ++count, AbortSignal.any([signal, AbortSignal.timeout(TRY_MS)]))
    },
    close: () => route.close()
  }
}

async function postOnce(
  route: MailRoute,
  from: Sender,
  mail: Mail,
  id: string,
  count: number,
  signal: AbortSignal
): Promise<Posting> {
  const date = new Date()
  try {
    await route.deliver(messageOf(from, mail.to, mail, id, date), fileNameOf(date, count), signal)
    return { outcome: 'sent' }
  } catch (error) {
    return { outcome: isRefusedForGood(error) ? 'refused' : 'failed', reason: mailFault(error) }
  }
}
