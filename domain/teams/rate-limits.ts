// Rate limits (interface specification 8.1): how many requests of a kind one caller can make within a sliding window.
// services/rate-limits/rate-limit-store.ts counts requests; this file does not read a clock.

/**
 * Whose requests are counted together. A `user` limit counts each API key as a user of its own, and callers that are
 * not signed in by their address. A `team` limit counts all members and keys of the team. An `email` limit counts the
 * requests about one e-mail address, from all callers, whether or not it has an account.
 */
export type LimitScope = 'user' | 'team' | 'address' | 'email'

interface Rule {
  /** The maximum number of requests within any `windowSeconds` seconds. */
  max: number
  windowSeconds: number
  scope: LimitScope
}

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const table = {
  /**
   * Submissions, and everything else that creates jobs or runs code at once: rerun, capsule runs, and the playground's
   * run and convert.
   */
  submit: { max: 10, windowSeconds: MINUTE, scope: 'user' },
  /** Requests that record a job also count against this limit. The playground records none. */
  submitTeam: { max: 100, windowSeconds: DAY, scope: 'team' },
  /** Stopping jobs stays possible for a caller that has used up all submissions of a day. */
  cancel: { max: 120, windowSeconds: MINUTE, scope: 'user' },
  /** Each comparison of two jobs can take seconds of a processor. */
  compare: { max: 20, windowSeconds: MINUTE, scope: 'user' },
  /** Every way of making a capsule except an import: some copy up to 60 MiB of evidence. */
  capsuleCreate: { max: 5, windowSeconds: MINUTE, scope: 'user' },
  capsuleImport: { max: 3, windowSeconds: MINUTE, scope: 'user' },
  /** Changing, publishing, archiving, deleting and scheduling capsules share this limit. */
  capsuleWrite: { max: 30, windowSeconds: MINUTE, scope: 'user' },
  capsuleSeal: { max: 10, windowSeconds: MINUTE, scope: 'user' },
  scriptUpload: { max: 5, windowSeconds: MINUTE, scope: 'user' },
  /** Saving, changing, publishing and deleting scripts share this limit. */
  scriptWrite: { max: 30, windowSeconds: MINUTE, scope: 'user' },
  /** The executor reads the source for each analysis. */
  scriptAnalyse: { max: 20, windowSeconds: MINUTE, scope: 'user' },
  /** Reports of simulations in the browser. */
  telemetry: { max: 60, windowSeconds: MINUTE, scope: 'user' },
  /** Creating, joining, renaming and deleting teams, and changing budgets, share this limit. */
  teamWrite: { max: 30, windowSeconds: MINUTE, scope: 'user' },
  apiKeys: { max: 20, windowSeconds: MINUTE, scope: 'user' },
  webhooks: { max: 20, windowSeconds: MINUTE, scope: 'user' },
  invitations: { max: 10, windowSeconds: MINUTE, scope: 'user' },
  secrets: { max: 20, windowSeconds: MINUTE, scope: 'user' },
  /** Changing and removing members share this limit. */
  members: { max: 30, windowSeconds: MINUTE, scope: 'user' },
  profile: { max: 30, windowSeconds: MINUTE, scope: 'user' },
  validateCode: { max: 5, windowSeconds: MINUTE, scope: 'address' },
  signUp: { max: 10, windowSeconds: MINUTE, scope: 'address' },
  signIn: { max: 10, windowSeconds: MINUTE, scope: 'address' },
  /** Failed sign-ins to one account, from all addresses together. */
  signInFailed: { max: 10, windowSeconds: 15 * MINUTE, scope: 'email' },
  /** Mails to one recipient. Each link works for an hour, so a refused request has earlier links. */
  passwordResetMail: { max: 5, windowSeconds: HOUR, scope: 'email' },
  invitationMail: { max: 5, windowSeconds: DAY, scope: 'email' },
  /** Requests for a mail about a job, while the submitter's address is not proved. */
  unprovedJobMail: { max: 10, windowSeconds: DAY, scope: 'email' },
  /** Every GET below /api except those of `poll`, and the reads that take a body. */
  read: { max: 100, windowSeconds: MINUTE, scope: 'user' },
  /**
   * Status and events of a job, and the events of teams. The limit is high, because a refused poll breaks a client that waits for its result.
   */
  poll: { max: 600, windowSeconds: MINUTE, scope: 'user' },
  /** Jobs that a schedule starts. They do not count against `submit`, since no client waits for them. */
  scheduled: { max: 500, windowSeconds: DAY, scope: 'team' }
} as const satisfies Record<string, Rule>

export type LimitName = keyof typeof table

type LimitNameOf<Scope extends LimitScope> = {
  [Name in LimitName]: (typeof table)[Name]['scope'] extends Scope ? Name : never
}[LimitName]
/** The caller alone decides whose slot a request takes. */
export type RequestLimitName = LimitNameOf<'user' | 'address'>
/** The team has to be known first. */
export type TeamLimitName = LimitNameOf<'team'>
export type EmailLimitName = LimitNameOf<'email'>

export interface RateLimit extends Rule {
  name: LimitName
}

export type RateLimits = Readonly<Record<LimitName, RateLimit>>

export const limitNames = Object.keys(table) as LimitName[]

/** The limits of the specification, and those of the writes that it leaves open. */
export const rateLimits = Object.fromEntries(
  limitNames.map((name) => [name, { name, ...table[name] }])
) as unknown as RateLimits

/**
 * Multiplies every `max` by `factor` (RATE_LIMIT_SCALE), rounded, and at least 1. Returns `null` for 0, which disables
 * all limits.
 * @throws Error for a factor that is negative or not finite.
 */
export function scaled(limits: RateLimits, factor: number): RateLimits | null {
  if (!Number.isFinite(factor) || factor < 0)
    throw new Error(`RATE_LIMIT_SCALE must be a number from 0 (off) upwards (got ${factor})`)
  if (factor === 0) return null
  const one = (limit: RateLimit): RateLimit => ({ ...limit, max: Math.max(1, Math.round(limit.max * factor)) })
  return Object.fromEntries(limitNames.map((name) => [name, one(limits[name])])) as unknown as RateLimits
}

/**
 * Converts a wait to whole seconds for Retry-After and the message. Rounded up, so that a client that waits this long
 * is admitted.
 */
export const wholeSeconds = (microseconds: number): number => Math.max(1, Math.ceil(microseconds / 1_000_000))

/**
 * Message and fields of the `rate_limited` error: the specified sentences, then the window that is used up and the setting
 * that changes it. `retryAfterSeconds` becomes the Retry-After header.
 */
export function rateLimitRefusalBody(limit: RateLimit, retryAfterSeconds: number) {
  const wait = plural(retryAfterSeconds, 'second')
  const inHours = retryAfterSeconds < 2 * MINUTE ? '' : `, in ${hoursAndMinutes(retryAfterSeconds)}`
  return {
    message:
      `Rate limit exceeded. 0/${limit.max} requests remaining. Try again in ${wait}. ` +
      `The limit ${limit.name} is ${limit.max} within any ${windowText(limit.windowSeconds)} for each ${owners[limit.scope]}; ` +
      `its oldest request stops counting then${inHours}. The operator changes it with RATE_LIMIT_SCALE.`,
    fields: { retryAfterSeconds }
  }
}

const owners: Record<LimitScope, string> = {
  user: 'user, API key or address',
  team: 'team',
  address: 'address',
  email: 'e-mail address'
}

const plural = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'}`

const windowText = (seconds: number): string => {
  if (seconds === MINUTE) return 'minute'
  return seconds < HOUR
    ? plural(seconds / MINUTE, 'minute')
    : seconds === HOUR
      ? 'hour'
      : plural(seconds / HOUR, 'hour')
}

function hoursAndMinutes(seconds: number): string {
  const minutes = Math.ceil(seconds / MINUTE)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
