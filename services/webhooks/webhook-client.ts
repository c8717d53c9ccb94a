// Sends one signed request to a receiver, after the Standard Webhooks convention, and says what became of it. Receivers
// are chosen by users: no redirect is followed, no answer is kept, and nothing private is connected to.
import { createHmac, randomBytes } from 'node:crypto'
import { Agent, type Dispatcher, request } from 'undici'
import { isPublicAddress, literalAddress, lookupOf, NOT_ACCEPTED, type Resolve } from './public-address.js'

/** What is sent; the id stays the same over all tries, by which a receiver knows a repetition. */
export interface WebhookMessage {
  id: string
  url: string
  /** As `newWebhookSecret` makes it. */
  secret: string
  /** JSON text. */
  payload: string
}

/** What became of a try: a status when there was an answer, and what went wrong when it was not taken. */
export interface WebhookOutcome {
  status: number | null
  error: string | null
}

export interface WebhookClient {
  /** Never rejects, and is over `timeoutMs` after its begin. */
  send(message: WebhookMessage): Promise<WebhookOutcome>
  close(): Promise<void>
}

export interface WebhookClientOptions {
  /** Private addresses are connected to as well. */
  allowPrivate: boolean
  timeoutMs: number
  /** How names become addresses; the system's way unless said otherwise. */
  resolve?: Resolve
}

const ANSWER_BYTES_MAX = 64 * 1024
const SECRET_PREFIX = 'whsec_'

export const newWebhookSecret = (): string => `${SECRET_PREFIX}${randomBytes(32).toString('base64')}`

/** The value of `webhook-signature`. @param seconds Unix time, as in `webhook-timestamp`. */
export function signature(message: Pick<WebhookMessage, 'id' | 'secret' | 'payload'>, seconds: number): string {
  const key = Buffer.from(message.secret.slice(SECRET_PREFIX.length), 'base64')
  return `v1,${createHmac('sha256', key).update(`${message.id}.${seconds}.${message.payload}`).digest('base64')}`
}

export function createWebhookClient({ allowPrivate, timeoutMs, resolve }: WebhookClientOptions): WebhookClient {
  const accept = allowPrivate ? () => true : isPublicAddress
  const agent = new Agent({
    connect: { timeout: timeoutMs, lookup: lookupOf(accept, resolve) },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    // A connection that stays open would skip the look at its address, and holds a socket of a receiver that is done.
    pipelining: 0
  })

  async function send(message: WebhookMessage): Promise<WebhookOutcome> {
    const literal = literalAddress(new URL(message.url))
    if (literal !== null && !accept(literal)) return { status: null, error: privateReceiver }
    const seconds = Math.floor(Date.now() / 1000)
    // Also ends a receiver that trickles.
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      const { statusCode, body } = await request(message.url, {
        dispatcher: agent,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'quantum-job-service',
          'webhook-id': message.id,
          'webhook-timestamp': String(seconds),
          'webhook-signature': signature(message, seconds)
        },
        body: message.payload,
        signal
      })
      // The status is the answer, whatever becomes of the rest.
      await body.dump({ limit: ANSWER_BYTES_MAX, signal }).catch(() => {})
      return { status: statusCode, error: faultOf(statusCode) }
    } catch (error) {
      return { status: null, error: signal.aborted ? noAnswer(timeoutMs) : deliveryFault(error, timeoutMs) }
    }
  }

  return { send, close: () => agent.destroy() }
}

/** `null` for a status that says that the message was taken. */
function faultOf(status: Dispatcher.ResponseData['statusCode']): string | null {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400 ? `answered ${status}; redirects are not followed` : `answered ${status}`
}

const privateReceiver = 'not sent: the receiver has no public address'
const noAnswer = (timeoutMs: number) => `no answer within ${timeoutMs / 1000} s`

const reasons: Record<string, string> = {
  [NOT_ACCEPTED]: privateReceiver,
  ENOTFOUND: 'the name of the receiver is not known',
  EAI_AGAIN: 'the name of the receiver could not be looked up',
  ECONNREFUSED: 'the receiver refused the connection',
  ECONNRESET: 'the receiver broke the connection',
  UND_ERR_SOCKET: 'the receiver broke the connection',
  EHOSTUNREACH: 'the receiver cannot be reached',
  ENETUNREACH: 'the receiver cannot be reached'
}

/** Never the error's own text, which holds addresses of our network. */
function deliveryFault(error: unknown, timeoutMs: number): string {
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string') return 'could not be sent'
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return noAnswer(timeoutMs)
  return reasons[code] ?? `could not be sent (${code})`
}
