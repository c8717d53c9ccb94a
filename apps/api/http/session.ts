// The cookie of a session.
import type { FastifyReply, FastifyRequest } from 'fastify'

const COOKIE_MAX_AGE_SECONDS = 30 * 24 * 3600
// A session token is 32 bytes in base64url; anything else need not be looked up.
export const tokenShape = /^[A-Za-z0-9_-]{43}$/

export interface Sessions {
  /** The token of the request's cookie, unchecked; `null` without one, and with more than one. */
  tokenOf(request: FastifyRequest): string | null
  setCookie(reply: FastifyReply, token: string): void
  clearCookie(reply: FastifyReply): void
}

/** Behind TLS the cookie takes the `__Host-` prefix, which browsers bind to this host and to https. */
export const sessionCookieName = (secure: boolean): string => (secure ? '__Host-qjs_session' : 'qjs_session')

export function createSessions({ secure }: { secure: boolean }): Sessions {
  const name = sessionCookieName(secure)
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const
  return {
    tokenOf: (request) => soleCookie(request, name),
    setCookie: (reply, token) => void reply.setCookie(name, token, { ...attributes, maxAge: COOKIE_MAX_AGE_SECONDS }),
    clearCookie: (reply) => void reply.clearCookie(name, attributes)
  }
}

/** If two cookies have the same name, one may be planted, so neither is trusted. */
function soleCookie(request: FastifyRequest, name: string): string | null {
  const given = (request.headers.cookie ?? '').split(';').filter((part) => part.trim().startsWith(`${name}=`))
  return given.length === 1 ? (request.cookies[name] ?? null) : null
}
