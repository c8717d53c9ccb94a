// Sends one signed request to a receiver, by the Standard Webhooks convention, and returns the outcome. Users choose the
// receivers: no redirect is followed, no response is stored, and no private address is connected to.
import { createHmac, randomBytes } from 'node:crypto'
import { Agent, type Dispatcher, request } from 'undici'
import { isPublicAddress, literalAddress, lookupOf, NOT_ACCEPTED, type Resolve } from './public-address.js'

/** The id is the same in all tries, so a receiver can recognise a repetition. */
export interface WebhookMessage {
  id: string
  url: string
  /** As `newWebhookSecret` makes it. */
  secret: string
  /** JSON text. */
  payload: string
}

/** The outcome of a try: the status of the response, if any, and the reason when the message was not accepted. */
export interface WebhookOutcome {
  status: number | null
  error: string | null
}

export interface WebhookClient {
  /** Never rejects, and resolves within `timeoutMs`. */
  send(message: WebhookMessage): Promise<WebhookOutcome>
  close(): Promise<void>
}

export interface WebhookClientOptions {
  /** Allows private addresses. */
  allowPrivate: boolean
  timeoutMs: number
  /** Looks names up; by default, the system does. */
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
    // A reused connection would skip the check of its address, and occupies a socket of the receiver.
    pipelining: 0
  })

  async function send(message: WebhookMessage): Promise<WebhookOutcome> {
    const literal = literalAddress(new URL(message.url))
    if (literal !== null && !accept(literal)) return { status: null, error: privateReceiver }
    const seconds = Math.floor(Date.now() / 1000)
    // Also limits a receiver that sends its response slowly.
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
      // The status decides, even if the body cannot be read.
      await body.dump({ limit: ANSWER_BYTES_MAX, signal }).catch(() => {})
      return { status: statusCode, error: faultOf(statusCode) }
    } catch (error) {
      return { status: null, error: signal.aborted ? noAnswer(timeoutMs) : deliveryFault(error, timeoutMs) }
    }
  }

  return { send, close: () => agent.destroy() }
}

/** `null` for a status that accepts the message. */
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

/** Without the error's own text, which contains addresses of our network. */
function deliveryFault(error: unknown, timeoutMs: number): string {
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string') return 'could not be sent'
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return noAnswer(timeoutMs)
  return reasons[code] ?? `could not be sent (${code})`
}
