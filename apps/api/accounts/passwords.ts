// Passwords are changed with the current one, or reset by a link that is mailed to the account's address.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import {
  beginPasswordReset,
  isResetLive,
  passwordHashOf,
  resetPassword,
  setPassword
} from '../../../db/accounts/passwords.js'
import { endFormerAccess } from '../../../db/deletion/former-access.js'
import { validationError } from '../../../domain/errors.js'
import { passwordResetMail } from '../../../services/mail/text.js'
import type { ApiDeps } from '../deps.js'
import { actorOf } from '../http/access.js'
import { takeEmailLimit } from '../http/limits/limiter.js'
import { accepted, done, success } from '../http/response.js'
import { Email, Password } from './auth.js'
import { hashPassword, isPassword } from './password-hash.js'

/** For the two routes that prove the address of an account. */
export const FIRST_PROOF =
  'If this is the first proof that the account receives mail at its address, access that was given before ends: its API keys and invitations, and in its personal team all other members, invitations, webhooks and stored credentials. Schedules of that team are paused, and its jobs that have not started are cancelled. The audit trail of each team concerned gets an entry.'

export const NO_PASSWORD =
  'An account that was made by single sign-on has no password; request a first one by `POST /api/auth/forgot-password`.'

export const passwordRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db, mailer, config } = deps

  app.post(
    '/api/auth/change-password',
    {
      schema: {
        tags: ['accounts'],
        summary: 'Change the password; every other session ends',
        description: NO_PASSWORD,
        body: Type.Object(
          { password: Type.String({ maxLength: 200, description: 'The present one' }), new_password: Password },
          { additionalProperties: false }
        ),
        response: { 200: done },
        errors: ['service_busy']
      }
    },
    async (request) => {
      const { user, sessionId } = actorOf(request)
      if (!(await isPassword(await passwordHashOf(db, user.id), request.body.password)))
        throw validationError('password: is not your present password')
      const passwordHash = await hashPassword(request.body.new_password)
      await db.transaction((tx) => setPassword(tx, user.id, passwordHash, sessionId))
      return success
    }
  )

  app.post(
    '/api/auth/forgot-password',
    {
      schema: {
        tags: ['accounts'],
        summary: 'Send a mail with a link that sets a new password; the response is the same for every address',
        body: Type.Object({ email: Email }, { additionalProperties: false }),
        response: { 202: accepted('A mail is on its way if the address has an account') }
      }
    },
    async (request, reply) => {
      // Before the look-up, so that the response is the same for every address.
      await takeEmailLimit(deps.limiter, request.body.email, 'passwordResetMail')
      await db.transaction(async (tx) => {
        const reset = await beginPasswordReset(tx, request.body.email)
        if (!reset) return
        const { token, email: to, expiresAt, firstProof } = reset
        const link = `${config.linkOrigin}/reset-password/${token}`
        await mailer.send(tx, { to, ...passwordResetMail({ link, expiresAt, firstProof }) }, expiresAt, { first: true })
      })
      reply.code(202)
      return success
    }
  )

  app.post(
    '/api/auth/reset-password',
    {
      schema: {
        tags: ['accounts'],
        summary: 'Set a new password with the token of a mailed link; every session of the account ends',
        description: FIRST_PROOF,
        body: Type.Object(
          { token: Type.String({ minLength: 1, maxLength: 64 }), password: Password },
          { additionalProperties: false }
        ),
        response: { 200: done },
        errors: ['service_busy']
      }
    },
    async (request) => {
      const { token, password } = request.body
      // Checked before the costly hash.
      const done = (await isResetLive(db, token)) && (await reset(token, await hashPassword(password)))
      if (!done) throw validationError('token: is not valid, was used, or is older than an hour; request a new link')
      return success
    }
  )

  const reset = (token: string, passwordHash: string): Promise<boolean> =>
    db.transaction(async (tx) => {
      const owner = await resetPassword(tx, token, passwordHash)
      if (owner?.firstProof) await endFormerAccess(tx, owner.userId)
      return owner !== null
    })
}
