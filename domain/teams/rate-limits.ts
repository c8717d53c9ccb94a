// Rate limits (interface specification 8.1): how many requests of a kind one caller may make within a window that slides
// with the clock. Counting is the business of apps/api/http/limits/rate-limit-store.ts; this file never sees a clock.

/**
 * Whose requests are counted together. A `user` limit counts an API key as a user of its own, and somebody who is not
 * signed in by address; a `team` limit counts all members and keys of the team.
 */
export type LimitScope = 'user' | 'team' | 'address'

interface Rule {
  /** Requests within any `windowSeconds` seconds. */
  max: number
  windowSeconds: number
  scope: LimitScope
}

const MINUTE = 60
const DAY = 24 * 60 * MINUTE

const table = {
  /** Submission, and whatever makes jobs or runs code at once: rerun, a capsule's run, the playground's run and convert. */
  submit: { max: 10, windowSeconds: MINUTE, scope: 'user' },
  /** What records a job takes one of these beside `submit`; the playground records none. */
  submitTeam: { max: 100, windowSeconds: DAY, scope: 'team' },
  capsuleCreate: { max: 5, windowSeconds: MINUTE, scope: 'user' },
  capsuleImport: { max: 3, windowSeconds: MINUTE, scope: 'user' },
  scriptUpload: { max: 5, windowSeconds: MINUTE, scope: 'user' },
  invitations: { max: 10, windowSeconds: MINUTE, scope: 'user' },
  secrets: { max: 20, windowSeconds: MINUTE, scope: 'user' },
  /** Changing and removing a member share one. */
  members: { max: 30, windowSeconds: MINUTE, scope: 'user' },
  profile: { max: 30, windowSeconds: MINUTE, scope: 'user' },
  validateCode: { max: 5, windowSeconds: MINUTE, scope: 'address' },
  signIn: { max: 10, windowSeconds: MINUTE, scope: 'address' },
  /** Every GET below /api but those of `poll`. */
  read: { max: 100, windowSeconds: MINUTE, scope: 'user' },
  /** Status and events of a job: a refused poll ends the wait of a client that would have got its result. */
  poll: { max: 600, windowSeconds: MINUTE, scope: 'user' },
  /** Jobs that a schedule starts; nobody waits for them, so they leave `submit` alone. */
  scheduled: { max: 500, windowSeconds: DAY, scope: 'team' }
} as const satisfies Record<string, Rule>

export type LimitName = keyof typeof table

export interface RateLimit extends Rule {
  name: LimitName
}

export type RateLimits = Readonly<Record<LimitName, RateLimit>>

export const limitNames = Object.keys(table) as LimitName[]

/** The limits as specified. */
export const rateLimits = Object.fromEntries(
  limitNames.map((name) => [name, { name, ...table[name] }])
) as unknown as RateLimits

/**
 * The limits with every `max` multiplied by `factor` (RATE_LIMIT_SCALE), rounded, and 1 at the least; `null` for 0, which
 * means that nothing is limited.
 * @throws Error for a factor that is negative or no finite number.
 */
export function scaled(limits: RateLimits, factor: number): RateLimits | null {
  if (!Number.isFinite(factor) || factor < 0)
    throw new Error(`RATE_LIMIT_SCALE must be a number from 0 (off) upwards (got ${factor})`)
  if (factor === 0) return null
  const one = (limit: RateLimit): RateLimit => ({ ...limit, max: Math.max(1, Math.round(limit.max * factor)) })
  return Object.fromEntries(limitNames.map((name) => [name, one(limits[name])])) as unknown as RateLimits
}

/** A wait as Retry-After and the message tell it: whole seconds, rounded up, so that who waits so long is let in. */
export const wholeSeconds = (microseconds: number): number => Math.max(1, Math.ceil(microseconds / 1_000_000))

/** Message and fields of the `rate_limited` error; `retryAfterSeconds` becomes the Retry-After header. */
export function rateLimitRefusalBody(limit: RateLimit, retryAfterSeconds: number) {
  const unit = retryAfterSeconds === 1 ? 'second' : 'seconds'
  return {
    message: `Rate limit exceeded. 0/${limit.max} requests remaining. Try again in ${retryAfterSeconds} ${unit}.`,
    fields: { retryAfterSeconds }
  }
}
