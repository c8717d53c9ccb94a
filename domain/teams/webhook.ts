// What webhooks may be told, where they may be, and how often a delivery is tried. Addresses are judged where they are
// connected to (services/webhooks/public-address.ts): a name says nothing about where it leads.
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

/** The event of a job that reached this status; a status without one is told to nobody. */
export const eventOfStatus: Partial<Record<JobStatus, WebhookEvent>> = {
  completed: 'job.completed',
  failed: 'job.failed',
  dispatch_failed: 'job.failed',
  cancelled: 'job.cancelled'
}

export const deliveryStates = ['pending', 'delivered', 'failed'] as const
export type DeliveryState = (typeof deliveryStates)[number]

export const WEBHOOKS_PER_TEAM_MAX = 20

/** Seconds from a try that failed to the next one; after the last the delivery has failed. */
export const RETRY_SECONDS = [5, 30, 2 * 60, 10 * 60, 3_600, 6 * 3_600, 24 * 3_600] as const

/** For how long a delivery stays in the log, delivered or not. */
export const DELIVERY_DAYS = 30

export const URL_MAX = 2_000

/**
 * Reads the address of a receiver and gives it back in its one canonical spelling: a host that is an address in disguise
 * (`2130706433`, `0x7f.1`, `[::ffff:127.0.0.1]`) comes out as what it is.
 * @param allowPrivate also http, and names of private networks.
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

/** Names that no public resolver knows. */
function isPrivateName(hostname: string): boolean {
  if (hostname.startsWith('[')) return false
  const name = hostname.replace(/\.$/, '')
  return !name.includes('.') || /\.(localhost|local|internal|home\.arpa)$/.test(name)
}
