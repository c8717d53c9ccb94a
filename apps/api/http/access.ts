// Decides whether a request reaches its route: who the caller is, what their key can do, and how often. It enforces
// access-table.ts; role and suspension are checked once the team is known, by `teamForWrite`, `readTeam` and the loaders.

import type { ServerResponse } from 'node:http'
import cookie from '@fastify/cookie'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { findSession, touchSession, type User } from '../../../db/accounts/accounts.js'
import type { Db, DbOrTx } from '../../../db/client.js'
import { type ApiKey, findApiKey, touchApiKey } from '../../../db/teams/api-keys.js'
import type { Caller, Membership } from '../../../db/teams/memberships.js'
import { lockTeamForWrite, teamForRead } from '../../../db/teams/teams.js'
import { codeOf, ServiceError } from '../../../domain/errors.js'
import { reaches } from '../../../domain/teams/api-key.js'
import type { Role } from '../../../domain/teams/role.js'
import { type Access, accessTo } from './access-table.js'
import { readKey } from './idempotency.js'
import { type Limiter, takeLimit } from './limits/limiter.js'
import { type Sessions, tokenShape } from './session.js'

/** The authenticated caller. `personalTeamId` is null until their first write makes that team. */
export type Actor =
  | { user: User; sessionId: string; personalTeamId: string | null; key: null }
  | { user: User; sessionId: null; key: ApiKey }

declare module 'fastify' {
  interface FastifyRequest {
    actor: Actor | null
    /** Returns the slot of the route's limit that this request took. */
    giveBackSlot: () => Promise<void>
    /** The team that the request has written to, once it is known. */
    teamWritten: string | null
  }
  interface FastifyContextConfig {
    access?: Access
  }
  interface FastifyInstance {
    /** Whether the session or the key of an earlier request is still valid. */
    isSignedIn(request: FastifyRequest): Promise<boolean>
  }
}

export default fp(
  async (app: FastifyInstance, { db, sessions, limiter }: { db: Db; sessions: Sessions; limiter: Limiter }) => {
    await app.register(cookie)
    app.decorateRequest('actor', null)
    app.decorateRequest('giveBackSlot', nothingToGiveBack)
    app.decorateRequest('teamWritten', null)
    app.decorateRequest('keyed', null)
    app.decorate('isSignedIn', (request) =>
      authenticate(db, sessions, request).then(
        () => true,
        (error) => {
          if (codeOf(error) === 'unauthorized') return false
          throw error
        }
      )
    )
    app.addHook('onRoute', declare)
    // Idempotency keys of requests in progress in this process.
    const arrived = new Set<string>()
    app.addHook('onRequest', async (request, reply) => {
      const { access } = request.routeOptions.config
      // The router's own handler responds to unknown routes with 404.
      if (!access) return
      if (access.who !== 'public') {
        request.actor = await authenticate(db, sessions, request)
        assertMayCall(request, access)
      }
      const keyed = await readKey(db, request, access)
      request.keyed = keyed
      if (keyed) {
        // A request with the key of one in progress will most likely repeat its response.
        keyed.slotDue = !access.limitsRepeats && (keyed.slotDue || arrived.has(keyed.id))
        const leave = keyed.slotDue ? () => {} : enter(arrived, keyed.id)
        // The response was sent, or the client disconnected.
        onceClosed(reply.raw, () => {
          leave()
          // The request was refused and repeated nothing, so it counts.
          if (keyed.slotDue) takeSlot(limiter, request).catch(() => {})
        })
      }
      if (!keyed?.slotDue) await takeSlot(limiter, request)
    })
  },
  { name: 'access' }
)

const nothingToGiveBack = async () => {}

function enter(set: Set<string>, id: string): () => void {
  set.add(id)
  return () => void set.delete(id)
}

/** The client may have disconnected already, while it was authenticated. */
function onceClosed(response: ServerResponse, act: () => void): void {
  if (response.destroyed) act()
  else response.once('close', act)
}

/** Takes a slot of the limit of the request's route, if it has one. @throws ServiceError `rate_limited`. */
export async function takeSlot(limiter: Limiter, request: FastifyRequest): Promise<void> {
  if (request.keyed) request.keyed.slotDue = false
  const { access } = request.routeOptions.config
  if (access?.limit) request.giveBackSlot = await takeLimit(limiter, request, access.limit)
}

/** Makes the start fail for a route that is not in the table. */
function declare(route: RouteOptions): void {
  for (const method of [route.method].flat()) {
    const access = accessTo(method, route.url)
    if (!access) throw new Error(`${method} ${route.url} is not in apps/api/http/access-table.ts`)
    route.config = { ...route.config, access }
  }
}

async function authenticate(db: Db, sessions: Sessions, request: FastifyRequest): Promise<Actor> {
  const { authorization } = request.headers
  if (authorization !== undefined) return actorOfKey(db, request, authorization)
  const token = sessions.tokenOf(request)
  const session = token && tokenShape.test(token) ? await findSession(db, token) : null
  if (!session) throw new ServiceError('unauthorized', 'Unauthorized')
  if (session.stale)
    touchSession(db, session.sessionId).catch((err) => request.log.warn({ err }, 'session not touched'))
  const { user, sessionId, personalTeamId } = session
  return { user, sessionId, personalTeamId, key: null }
}

async function actorOfKey(db: Db, request: FastifyRequest, authorization: string): Promise<Actor> {
  const [scheme = '', token = ''] = authorization.split(/ +/, 2)
  if (scheme.toLowerCase() !== 'bearer')
    throw new ServiceError(
      'unauthorized',
      `Authorization: the scheme must be Bearer (got ${JSON.stringify(scheme.slice(0, 20))}; a .netrc entry for this host turns Bearer into Basic)`
    )
  const found = await findApiKey(db, token)
  if (!found) throw new ServiceError('unauthorized', 'Authorization: this API key is unknown, revoked or expired')
  if (found.stale) touchApiKey(db, found.key.id).catch((err) => request.log.warn({ err }, 'key not touched'))
  return { user: found.user, sessionId: null, key: found.key }
}

/** @param access the line of a route. @throws ServiceError `not_found`, `permission_denied` (of a key). */
export function assertMayCall(request: FastifyRequest, { who, tier = 'read' }: Access): void {
  const { key, user } = request.actor!
  // For other callers these routes do not exist.
  if (who === 'platform admin' && (key || !user.isPlatformAdmin))
    throw new ServiceError('not_found', `no route ${request.method} ${request.url.split('?')[0]}`)
  if (!key) return
  if (who === 'session')
    throw new ServiceError('permission_denied', 'API keys cannot do this: sign in and use a session')
  if (!reaches(key.tier, tier))
    throw new ServiceError('permission_denied', `This needs an API key of tier ${tier} (this one has tier ${key.tier})`)
}

/** The actor of a route that requires credentials. */
export function actorOf(request: FastifyRequest): Actor {
  if (!request.actor) throw new Error(`${request.url} requires no credentials, so it has no actor`)
  return request.actor
}

export const userOf = (request: FastifyRequest): User => actorOf(request).user

/** The actor as queries need it. */
export function callerOf(request: FastifyRequest): Caller {
  const { user, key } = actorOf(request)
  return { userId: user.id, email: user.email, key: key && { id: key.id, teamId: key.teamId } }
}

/** The lowest role that the table requires for the request's route. */
function roleFor(request: FastifyRequest): Role {
  const role = request.routeOptions.config.access?.role
  if (!role) throw new Error(`${request.routeOptions.url} names no role in apps/api/http/access-table.ts`)
  return role
}

/**
 * The team that the request writes to, locked until the transaction ends: the one named, else the caller's personal team.
 * @throws ServiceError `not_found`, `permission_denied`, `team_suspended`.
 */
export async function teamForWrite(
  request: FastifyRequest,
  tx: DbOrTx,
  teamId: string | null,
  strength: 'share' | 'update' = 'share'
): Promise<string> {
  const team = await lockTeamForWrite(tx, callerOf(request), teamId, roleFor(request), strength)
  request.teamWritten = team
  return team
}

/**
 * The team that `teamForWrite` would lock, where that is known without looking: the key's own, or the user's personal team.
 * @returns `null` otherwise, also where the write needs a higher role than that of a member.
 */
export function ownTeamOf(request: FastifyRequest, teamId: string | null): string | null {
  const actor = actorOf(request)
  const own = actor.key ? actor.key.teamId : actor.personalTeamId
  return roleFor(request) === 'member' && (teamId === null || teamId.toLowerCase() === own) ? own : null
}

/**
 * Like `teamForWrite`, for something that belongs to the team `teamId`. Non-members get the same 404 as for an id that does not
 * exist (`null`).
 */
export async function ownerForWrite(
  request: FastifyRequest,
  tx: DbOrTx,
  teamId: string | null,
  what: string
): Promise<string> {
  const unknown = new ServiceError('not_found', `no such ${what}`)
  if (teamId === null) throw unknown
  return teamForWrite(request, tx, teamId).catch((error) => {
    throw codeOf(error) === 'not_found' ? unknown : error
  })
}

/**
 * The team that the request reads: the one named, else the first that the caller joined; `null` when there is none.
 * @throws ServiceError `not_found`, `permission_denied`.
 */
export const readTeam = (request: FastifyRequest, db: DbOrTx, teamId: string | undefined): Promise<Membership | null> =>
  teamForRead(db, callerOf(request), teamId, roleFor(request))
