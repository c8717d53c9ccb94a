// Accounts and sessions: /api/auth/*.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { hash, verify } from '@node-rs/argon2'
import { Type } from 'typebox'
import { findPasswordHash, openSession, remainingUses, revokeSession, signUp, type User } from '../../../db/accounts.js'
import { teamsOf } from '../../../db/teams.js'
import { ServiceError } from '../../../domain/errors.js'
import type { ApiDeps } from '../deps.js'
import { type Sessions, userOf } from '../plugins/session.js'

const Email = Type.String({ format: 'email', maxLength: 254 })
const Password = Type.String({ minLength: 10, maxLength: 200 })
const Code = Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' })

// argon2id with 19 MiB and two passes, about 50 ms; libuv's thread pool bounds how many run at once.
const argon = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

export const publicAuthRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps; sessions: Sessions }> = async (
  app,
  { deps, sessions }
) => {
  const { db, config } = deps
  // Verified against when nobody has the address, so that the time of an answer tells nothing.
  const nobodysHash = await hash('nobody has this password', argon)

  app.post(
    '/api/auth/validate-code',
    {
      schema: {
        tags: ['accounts'],
        summary: 'Whether an access code can be used; looking spends nothing',
        body: Type.Object({ code: Code }, { additionalProperties: false })
      }
    },
    async (request) => {
      const remaining = await remainingUses(db, request.body.code)
      return { valid: remaining > 0, remaining_uses: remaining }
    }
  )

  app.post(
    '/api/auth/sign-up',
    {
      schema: {
        tags: ['accounts'],
        summary: 'Make an account with an access code, and sign in',
        body: Type.Object(
          {
            email: Email,
            password: Password,
            code: Type.Optional(Code),
            display_name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 }))
          },
          { additionalProperties: false }
        )
      }
    },
    async (request, reply) => {
      const { email, password, code, display_name } = request.body
      if (config.codesNeeded && code === undefined) throw new ServiceError('validation_error', 'code: is required')
      // Checked before the costly hash; spent, once and for all, by signUp itself.
      if (config.codesNeeded && (await remainingUses(db, code!)) === 0)
        throw new ServiceError('validation_error', 'code: is not valid, has expired or is used up')
      const user = await signUp(db, {
        email,
        passwordHash: await hash(password, argon),
        displayName: display_name ?? null,
        code: config.codesNeeded ? code! : null
      })
      sessions.setCookie(reply, await openSession(db, user.id, request.headers['user-agent'] ?? null))
      return reply.code(201).send({ user: userView(user) })
    }
  )

  app.post(
    '/api/auth/sign-in',
    {
      schema: {
        tags: ['accounts'],
        summary: 'Sign in; the session comes as a cookie',
        body: Type.Object(
          { email: Type.String({ maxLength: 254 }), password: Type.String({ maxLength: 200 }) },
          { additionalProperties: false }
        )
      }
    },
    async (request, reply) => {
      const found = await findPasswordHash(db, request.body.email)
      const matches = await verify(found?.passwordHash ?? nobodysHash, request.body.password)
      if (!found || !matches) throw new ServiceError('unauthorized', 'E-mail address or password is wrong')
      sessions.setCookie(reply, await openSession(db, found.user.id, request.headers['user-agent'] ?? null))
      return { user: userView(found.user) }
    }
  )
}

export const sessionRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps; sessions: Sessions }> = async (
  app,
  { deps, sessions }
) => {
  app.get(
    '/api/auth/session',
    { schema: { tags: ['accounts'], summary: 'Who is signed in, and the teams they belong to' } },
    async (request) => {
      const user = userOf(request)
      return { user: userView(user), teams: await teamsOf(deps.db, user.id) }
    }
  )

  app.post(
    '/api/auth/sign-out',
    { schema: { tags: ['accounts'], summary: 'End this session on the server' } },
    async (request, reply) => {
      await revokeSession(deps.db, request.actor!.sessionId)
      sessions.clearCookie(reply)
      return reply.code(204).send()
    }
  )
}

const userView = (user: User) => ({
  id: user.id,
  email: user.email,
  username: user.username,
  display_name: user.displayName,
  is_platform_admin: user.isPlatformAdmin,
  created_at: user.createdAt.toISOString()
})
