// The events of webhooks, their allowed addresses, and the retries of a delivery. Whether a host is public is checked
// on connection (services/webhooks/public-address.ts), since a name does not show where it resolves to.
import { type ServiceError, validationError } from '../errors.js'
import type { JobStatus } from '../jobs/job-status.js'

export const webhookEvents = [
  'job.completed',
  'job.failed',
  'job.cancelled',
  'capsule.verified',
  'budget.exceeded'
] as const

export type WebhookEvent = (typeof webhookEvents)[number]

/** The event of a job that reached this status. A status without an entry sends no event. */
export const eventOfStatus: Partial<Record<JobStatus, WebhookEvent>> = {
  completed: 'job.completed',
  failed: 'job.failed',
  dispatch_failed: 'job.failed',
  cancelled: 'job.cancelled'
}

export const deliveryStates = ['pending', 'delivered', 'failed'] as const
export type DeliveryState = (typeof deliveryStates)[number]

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
