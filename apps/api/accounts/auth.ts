// Access codes, sign-up, sign-in, sign-out and sessions.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import {
  findPasswordHash,
  listSessions,
  openSession,
  remainingUses,
  revokeSession,
  sessionTimes,
  signUp,
  type User as UserRow
} from '../../../db/accounts/accounts.js'
import { acceptInvitation, noSuchInvitation, previewInvitation } from '../../../db/teams/invitations.js'
import { teamsOf } from '../../../db/teams/memberships.js'
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '../../../domain/accounts/password.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
import type { ApiDeps } from '../deps.js'
import { actorOf, callerOf, userOf } from '../http/access.js'
import { type GiveBack, takeEmailLimit, takeLimit } from '../http/limits/limiter.js'
import { count, empty, json, type Sent, sent } from '../http/response.js'
import type { Sessions } from '../http/session.js'
import { Team } from '../teams/team-view.js'
import { hashPassword, isPassword } from './password-hash.js'
import { CurrentSession, currentSessionView, Session, sessionView } from './session-view.js'
import { User, userView } from './user-view.js'

export const Email = Type.String({ format: 'email', maxLength: 254 })
export const Password = Type.String({ minLength: PASSWORD_LENGTH_MIN, maxLength: PASSWORD_LENGTH_MAX })
const Code = Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' })
const SignedIn = Type.Object({ user: User })
const signedIn = json('Signed in', SignedIn, ['Set-Cookie'])
const Token = Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' })

export const authRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps; sessions: Sessions }> = async (
  app,
  { deps, sessions }
) => {
  const { db, config } = deps

  app.post(
    '/api/auth/validate-code',
    {
      schema: {
        tags: ['accounts'],
        summary: 'Whether an access code can be used; the check uses nothing up',
        body: Type.Object({ code: Code }, { additionalProperties: false }),
        response: { 200: json('What the code is worth', Type.Object({ valid: Type.Boolean(), remaining_uses: count })) }
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
        summary: 'Create an account with an access code or an invitation, and sign in',
        body: Type.Object(
          {
            email: Email,
            password: Password,
            code: Type.Optional(Code),
            invitation_token: Type.Optional(Token),
            display_name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 }))
          },
          { additionalProperties: false }
        ),
        response: { 201: signedIn },
        errors: ['not_found', 'team_suspended', 'conflict', 'service_busy']
      }
    },
    async (request, reply) => {
      const { email, password, code, invitation_token, display_name } = request.body
      if (code !== undefined && invitation_token !== undefined)
        throw validationError('invitation_token: takes the place of code; send only one of them')
      // Checked before the costly hash; the transaction below uses it up.
      let giveBack: GiveBack = async () => {}
      if (invitation_token !== undefined) giveBack = await assertInvited(request, invitation_token, email)
      else if (config.codesNeeded) giveBack = await assertCode(request, code)
      const user = await signUp(
        db,
        {
          email,
          passwordHash: await hashPassword(password),
          displayName: display_name ?? null,
          code: config.codesNeeded && invitation_token === undefined ? code! : null
        },
        async (tx, made) => {
          if (invitation_token !== undefined) await acceptInvitation(tx, invitation_token, made)
        }
      )
      await giveBack()
      return signIn(request, reply.code(201) as FastifyReply, user)
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
        ),
        response: { 200: signedIn },
        errors: ['unauthorized', 'service_busy']
      }
    },
    async (request, reply) => {
      const { email, password } = request.body
      // Before the look-up, so that a refusal does not reveal whether the address has an account.
      const giveBack = await takeEmailLimit(deps.limiter, email, 'signInFailed')
      const found = await findPasswordHash(db, email)
      if (!(await isPassword(found?.passwordHash ?? null, password)) || !found)
        throw new ServiceError('unauthorized', 'E-mail address or password is wrong')
      await giveBack()
      return signIn(request, reply, found.user)
    }
  )

  app.get(
    '/api/auth/session',
    {
      schema: {
        tags: ['accounts'],
        summary: 'Who is signed in, and the teams they belong to',
        response: {
          200: json('The caller', Type.Object({ user: User, teams: Type.Array(Team), session: CurrentSession }))
        }
      }
    },
    async (request) => {
      const { user, sessionId } = actorOf(request)
      const [teams, session] = await Promise.all([teamsOf(db, callerOf(request)), sessionTimes(db, sessionId!)])
      return { user: userView(user), teams, session: currentSessionView(session) }
    }
  )

  app.get(
    '/api/auth/sessions',
    {
      schema: {
        tags: ['accounts'],
        summary: 'Your sessions, the newest first',
        response: { 200: json('The sessions', Type.Object({ sessions: Type.Array(Session) })) }
      }
    },
    async (request) => {
      const { user, sessionId } = actorOf(request)
      const found = await listSessions(db, user.id)
      return {
        sessions: found.map((session) => sessionView(session, sessionId))
      }
    }
  )

  app.delete(
    '/api/auth/sessions/:id',
    {
      schema: {
        tags: ['accounts'],
        summary: 'End one of your sessions on the server',
        params: Type.Object({ id: Type.String({ format: 'uuid' }) }),
        response: { 204: empty('The session is revoked') }
      }
    },
    async (request, reply) => {
      return app.writeOnce(request, reply, async ({ tx }) => {
        if (!(await revokeSession(tx, userOf(request).id, request.params.id)))
          throw new ServiceError('not_found', 'no such session')
        return { status: 204 }
      })
    }
  )

  app.post(
    '/api/auth/sign-out',
    {
      schema: {
        tags: ['accounts'],
        summary: 'End this session on the server',
        response: { 204: empty('The session is revoked', ['Set-Cookie']) }
      }
    },
    async (request, reply) => {
      const { user, sessionId } = actorOf(request)
      await revokeSession(db, user.id, sessionId!)
      sessions.clearCookie(reply)
      return sent(reply.code(204).send())
    }
  )

  async function signIn(request: FastifyRequest, reply: FastifyReply, user: UserRow): Promise<Sent> {
    sessions.setCookie(reply, await openSession(db, user.id, request.headers['user-agent'] ?? null))
    const body: Static<typeof SignedIn> = { user: userView(user) }
    return sent(reply.send(body))
  }

  /**
   * Takes a slot of the limit on checking codes before the look-up, so that a caller without slots does not learn that a
   * guess was right. The slot is given back once the account exists; an address that is taken costs it.
   */
  async function assertCode(request: FastifyRequest, code: string | undefined): Promise<GiveBack> {
    if (code === undefined) throw validationError('code: is required')
    const giveBack = await takeLimit(deps.limiter, request, 'validateCode')
    if ((await remainingUses(db, code)) === 0) throw validationError('code: is not valid, has expired or is used up')
    return giveBack
  }

  async function assertInvited(request: FastifyRequest, token: string, email: string): Promise<GiveBack> {
    const giveBack = await takeLimit(deps.limiter, request, 'validateCode')
    const invitation = await previewInvitation(db, token)
    if (!invitation) throw noSuchInvitation()
    if (invitation.email.toLowerCase() !== email.toLowerCase())
      throw validationError('email: the invitation is for another address')
    return giveBack
  }
}
