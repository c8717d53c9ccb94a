// Counts a request against a rate limit. domain/teams/rate-limits.ts holds the limits, and access-table.ts the limit of each
// route.
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../../../../domain/errors.js'
import {
  type EmailLimitName,
  type LimitName,
  type LimitScope,
  type RateLimits,
  type RequestLimitName,
  rateLimitRefusalBody,
  type TeamLimitName
} from '../../../../domain/teams/rate-limits.js'
import type { RateLimitStore } from '../../../../services/rate-limits/rate-limit-store.js'
import { addressKey, clientAddress, type TrustedProxies } from './client-address.js'

export interface Limiter {
  store: RateLimitStore
  /** `null`: nothing is limited. */
  limits: RateLimits | null
  /** Proxies whose X-Forwarded-For is trusted. */
  trustedProxies: TrustedProxies
}

/** Returns the slot that a request took. */
export type GiveBack = () => Promise<void>

/**
 * Takes one of a limit's slots. The limit's `scope` decides who is counted: the user (a key is a user of its own, and a
 * caller without credentials counts by address), or the address, independent of credentials.
 * @throws ServiceError `rate_limited` with the seconds to wait.
 */
export const takeLimit = (limiter: Limiter, request: FastifyRequest, name: RequestLimitName): Promise<GiveBack> =>
  take(limiter, name, (scope) => ownerOf(scope, name, request, limiter.trustedProxies))

/**
 * Takes one slot of a team's limit.
 * @throws ServiceError `rate_limited` with the seconds to wait.
 */
export const takeTeamLimit = (limiter: Limiter, teamId: string, name: TeamLimitName): Promise<GiveBack> =>
  take(limiter, name, () => teamId)

/**
 * Takes one slot of the limit of an e-mail address, whether or not it has an account.
 * @throws ServiceError `rate_limited` with the seconds to wait.
 */
export const takeEmailLimit = (limiter: Limiter, email: string, name: EmailLimitName): Promise<GiveBack> =>
  take(limiter, name, () => email.toLowerCase())

async function take(
  { store, limits }: Limiter,
  name: LimitName,
  ownerFor: (scope: LimitScope) => string
): Promise<GiveBack> {
  if (!limits) return async () => {}
  const limit = limits[name]
  const taken = await store.take([{ limit, key: ownerFor(limit.scope) }])
  if (taken.ok) return taken.giveBack
  const { message, fields } = rateLimitRefusalBody(taken.limit, taken.retryAfterSeconds)
  throw new ServiceError('rate_limited', message, fields)
}

function ownerOf(scope: LimitScope, name: LimitName, request: FastifyRequest, trustedProxies: TrustedProxies): string {
  const { actor } = request
  switch (scope) {
    case 'user':
      if (actor) return actor.key ? `key:${actor.key.id}` : `user:${actor.user.id}`
      return addressOf(request, trustedProxies)
    case 'address':
      return addressOf(request, trustedProxies)
    case 'team':
    case 'email':
      throw new Error(`the limit ${name} does not count requests by their caller`)
  }
}

function addressOf({ raw: { socket, headers } }: FastifyRequest, trustedProxies: TrustedProxies): string {
  return addressKey(clientAddress(socket.remoteAddress, headers['x-forwarded-for'], trustedProxies))
}
