// Takes a request's share of a limit. The table is domain/teams/rate-limits.ts; which route has which limit, access-table.ts.
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../../../../domain/errors.js'
import { type LimitName, type RateLimits, rateLimitRefusalBody } from '../../../../domain/teams/rate-limits.js'
import { addressKey, clientAddress, type TrustedProxies } from './client-address.js'
import type { RateLimitStore } from './rate-limit-store.js'

export interface Limiter {
  store: RateLimitStore
  /** `null`: nothing is limited. */
  limits: RateLimits | null
  /** Proxies whose X-Forwarded-For is believed. */
  trustedProxies: TrustedProxies
}

/**
 * Takes one of the limit's slots: of the team `teamId`, else of the user (a key is a user of its own), else of the address.
 * @returns gives the slot back.
 * @throws ServiceError `rate_limited` with the seconds to wait.
 */
export async function takeLimit(
  { store, limits, trustedProxies }: Limiter,
  request: FastifyRequest,
  name: LimitName,
  teamId?: string
): Promise<() => Promise<void>> {
  if (!limits) return async () => {}
  const taken = await store.take([{ limit: limits[name], key: teamId ?? askerOf(request, trustedProxies) }])
  if (taken.ok) return taken.giveBack
  const { message, fields } = rateLimitRefusalBody(taken.limit, taken.retryAfterSeconds)
  throw new ServiceError('rate_limited', message, fields)
}

function askerOf(request: FastifyRequest, trustedProxies: TrustedProxies): string {
  const { actor } = request
  if (actor) return actor.key ? `key:${actor.key.id}` : `user:${actor.user.id}`
  const { socket, headers } = request.raw
  return addressKey(clientAddress(socket.remoteAddress, headers['x-forwarded-for'], trustedProxies))
}
