// A session as its user sees it.
import { type Static, Type } from 'typebox'
import type { SessionItem, SessionTimes } from '../../../db/accounts/accounts.js'
import { nullable, text, time, uuid } from '../http/response.js'

export const Session = Type.Object(
  {
    id: uuid,
    created_at: time,
    last_seen_at: time,
    user_agent: nullable(text),
    current: Type.Boolean({ description: 'Whether this request came with it' })
  },
  { $id: 'Session' }
)

/** The session of a request. */
export const CurrentSession = Type.Object(
  {
    id: uuid,
    expires_at: Type.String({ format: 'date-time', description: 'It ends then, however much it is used' }),
    idle_until: Type.String({ format: 'date-time', description: 'It ends then unless it is used again' })
  },
  { $id: 'CurrentSession' }
)

export const currentSessionView = ({ id, expiresAt, idleUntil }: SessionTimes): Static<typeof CurrentSession> => ({
  id,
  expires_at: expiresAt.toISOString(),
  idle_until: (idleUntil < expiresAt ? idleUntil : expiresAt).toISOString()
})

export const sessionView = (session: SessionItem, currentId: string | null): Static<typeof Session> => ({
  id: session.id,
  created_at: session.createdAt.toISOString(),
  last_seen_at: session.lastSeenAt.toISOString(),
  user_agent: session.userAgent,
  current: session.id === currentId
})
