// Who is asking. `requireUser` is a preHandler of every protected route; a protected scope adds it structurally, so that no
// route is open by accident.
import cookie from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { findSession, touchSession, type User } from '../../../db/accounts.js'
import type { Db } from '../../../db/client.js'
import { ServiceError } from '../../../domain/errors.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `requireUser`. */
    actor: { user: User; sessionId: string } | null
  }
}

const COOKIE_MAX_AGE_SECONDS = 30 * 24 * 3600
// A session token is 32 bytes in base64url; anything else need not be looked up.
const tokenShape = /^[A-Za-z0-9_-]{43}$/

export interface SessionOptions {
  db: Db
  /** Behind TLS the cookie takes the `__Host-` prefix, which browsers bind to this host and to https. */
  secure: boolean
}

export interface Sessions {
  requireUser(request: FastifyRequest): Promise<void>
  setCookie(reply: FastifyReply, token: string): void
  clearCookie(reply: FastifyReply): void
}

export default fp(
  async (app: FastifyInstance) => {
    await app.register(cookie)
    app.decorateRequest('actor', null)
  },
  { name: 'session' }
)

export function createSessions({ db, secure }: SessionOptions): Sessions {
  const name = secure ? '__Host-qjs_session' : 'qjs_session'
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const
  return {
    async requireUser(request) {
      const { authorization } = request.headers
      if (authorization !== undefined) throw new ServiceError('unauthorized', schemeMessage(authorization))
      const token = soleCookie(request, name)
      const session = token && tokenShape.test(token) ? await findSession(db, token) : null
      if (!session) throw new ServiceError('unauthorized', 'Unauthorized')
      request.actor = { user: session.user, sessionId: session.sessionId }
      if (session.stale)
        touchSession(db, session.sessionId).catch((err) => request.log.warn({ err }, 'session not touched'))
    },
    setCookie: (reply, token) => void reply.setCookie(name, token, { ...attributes, maxAge: COOKIE_MAX_AGE_SECONDS }),
    clearCookie: (reply) => void reply.clearCookie(name, attributes)
  }
}

/** The actor of a route below `requireUser`. */
export function userOf(request: FastifyRequest): User {
  if (!request.actor) throw new Error(`${request.url} is not behind requireUser`)
  return request.actor.user
}

/** Two cookies of the same name mean that somebody planted one; neither is believed. */
function soleCookie(request: FastifyRequest, name: string): string | null {
  const given = (request.headers.cookie ?? '').split(';').filter((part) => part.trim().startsWith(`${name}=`))
  return given.length === 1 ? (request.cookies[name] ?? null) : null
}

function schemeMessage(authorization: string): string {
  const scheme = authorization.split(' ', 1)[0]!.slice(0, 20)
  if (scheme.toLowerCase() !== 'bearer')
    return `Authorization: the scheme must be Bearer (got ${JSON.stringify(scheme)}; a .netrc entry for this host turns Bearer into Basic)`
  return 'Authorization: this key is not valid; API keys are not available in this version, sign in instead'
}
