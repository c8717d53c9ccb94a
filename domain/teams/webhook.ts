// The events of webhooks, their allowed addresses, and the retries of a delivery. Whether a host is public is checked
// on connection (services/webhooks/public-address.ts), since a name does not show where it resolves to.
import { ServiceError, validationError } from '../errors.js'
import type { JobStatus } from '../jobs/job-status.js'

export const webhookEvents = [
  'job.completed',
  'job.failed',
  'job.cancelled',
  'capsule.verified',
  'budget.exceeded'
] as const

export type WebhookEvent = (typeof webhookEvents)[number]

/** The events of deliveries. A test is sent on request, whatever the webhook subscribes to, and is tried once. */
export const deliveryEvents = [...webhookEvents, 'webhook.test'] as const
export type DeliveryEvent = (typeof deliveryEvents)[number]

/** The event of a job that reached this status. A status without an entry sends no event. */
export const eventOfStatus: Partial<Record<JobStatus, WebhookEvent>> = {
  completed: 'job.completed',
  failed: 'job.failed',
  dispatch_failed: 'job.failed',
  cancelled: 'job.cancelled'
}

export const deliveryStates = ['pending', 'delivered', 'failed'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** A try that is in progress ends within this time: it belongs to one sender for so long. */
export const TAKEN_SECONDS = 30

export const BEING_SENT = `This delivery is being sent, or will be within ${TAKEN_SECONDS} seconds`

/**
 * Delivered, failed, or waiting for its next try.
 * @param nextAt when a pending delivery is tried next.
 * @throws ServiceError `conflict` for a delivery that is being sent, or is about to be.
 */
export function assertSendsAgain({ state, nextAt }: { state: DeliveryState; nextAt: Date }, now: Date): void {
  if (state === 'pending' && nextAt.getTime() <= now.getTime() + TAKEN_SECONDS * 1000)
    throw new ServiceError('conflict', BEING_SENT)
}

export const WEBHOOKS_PER_TEAM_MAX = 20

/** Seconds from a failed try to the next one. When the last try fails, the delivery fails. */
export const RETRY_SECONDS = [5, 30, 2 * 60, 10 * 60, 3_600, 6 * 3_600, 24 * 3_600] as const

/** How long a delivery stays in the log, delivered or not. */
export const DELIVERY_DAYS = 30

export const URL_MAX = 2_000

/**
 * Parses the URL of a receiver and returns its canonical form, in which a disguised IP address (`2130706433`, `0x7f.1`,
 * `[::ffff:127.0.0.1]`) is plain.
 * @param allowPrivate also accepts http, and names of private networks.
 * @throws ServiceError `validation_error`.
 */
export function readWebhookUrl(text: string, allowPrivate: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) throw invalidUrl('must be an address such as https://example.org/hook')
  if (url.username || url.password) throw invalidUrl('must not hold a user name or a password')
  if (url.hash) throw invalidUrl('must not hold a fragment (#...), which is never sent')
  if (url.href.length > URL_MAX) throw invalidUrl(`must have at most ${URL_MAX} characters when written out`)
  if (allowPrivate) return url.href
  if (url.protocol !== 'https:') throw invalidUrl('must begin with https://')
  if (isPrivateName(url.hostname)) throw privateHost()
  return url.href
}

export const privateHost = (): ServiceError =>
  invalidUrl('must be on the public Internet; this host belongs to a private network')

const invalidUrl = (message: string) => validationError(`url: ${message}`)

/** Names that no public resolver resolves. */
function isPrivateName(hostname: string): boolean {
  if (hostname.startsWith('[')) return false
  const name = hostname.replace(/\.$/, '')
  return !name.includes('.') || /\.(localhost|local|internal|home\.arpa)$/.test(name)
}
