// Sign-in through an identity provider: the redirect to it, and the return with a session.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { openSession, type User } from '../../../db/accounts/accounts.js'
import {
  findIdentityOwner,
  linkIdentity,
  type ProvidedIdentity,
  signUpWithIdentity
} from '../../../db/accounts/identities.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
import { FLOW_SECONDS } from '../../../services/identity/oidc-client.js'
import { refusesWithPage } from '../console/refusal-page.js'
import type { ApiDeps } from '../deps.js'
import { takeLimit } from '../http/limits/limiter.js'
import { empty, sent } from '../http/response.js'
import type { Sessions } from '../http/session.js'
import { Email } from './auth.js'

const START = '/api/auth/oidc/start'
const CALLBACK = '/api/auth/oidc/callback'

const StartQuery = Type.Object(
  {
    code: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        pattern: '^[A-Za-z0-9_-]+$',
        description: 'Access code; needed at the first sign-in'
      })
    ),
    return_to: Type.String({
      default: '/',
      maxLength: 1000,
      // One slash and no backslash: browsers read `//host` and `/\host` as other sites. Nothing unprintable, which they drop.
      pattern: '^/(?![/\\\\])[\\x21-\\x5b\\x5d-\\x7e]*$',
      description: 'Where to go when signed in: a path of this service'
    })
  },
  { additionalProperties: false }
)

const redirects = (description: string) => ({ 302: empty(description, ['Location', 'Set-Cookie']) })

// Providers add parameters of their own.
const CallbackQuery = Type.Object({
  state: Type.Optional(Type.String()),
  code: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  iss: Type.Optional(Type.String())
})

export const oidcRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps; sessions: Sessions; secure: boolean }> = async (
  app,
  { deps, sessions, secure }
) => {
  const { db, config, oidc } = deps
  if (!oidc) {
    for (const path of [START, CALLBACK])
      app.get(path, { ...refusesWithPage, schema: { hide: true } }, async () => {
        throw new ServiceError('not_found', 'sign-in through an identity provider is not set up here (OIDC_ISSUER)')
      })
    return
  }
  const cookieName = secure ? '__Host-qjs_oidc' : 'qjs_oidc'
  // With `lax`, browsers send the cookie when the provider redirects back.
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const

  app.get(
    START,
    {
      ...refusesWithPage,
      schema: {
        tags: ['accounts'],
        summary: 'Sign in through the identity provider: 302 to its page',
        querystring: StartQuery,
        response: redirects("To the provider's page"),
        errors: ['unauthorized', 'permission_denied', 'worker_unreachable', 'worker_not_configured']
      }
    },
    async (request, reply) => {
      const { code, return_to } = request.query
      const { url, sealedFlow } = await oidc.begin({ accessCode: code ?? null, returnTo: return_to })
      reply.setCookie(cookieName, sealedFlow, { ...attributes, maxAge: FLOW_SECONDS })
      return sent(reply.redirect(url.href, 302))
    }
  )

  app.get(
    CALLBACK,
    {
      ...refusesWithPage,
      schema: {
        tags: ['accounts'],
        summary: 'Where the identity provider sends the browser back: 302 with a session, or an error',
        querystring: CallbackQuery,
        response: redirects('Signed in'),
        errors: [
          'unauthorized',
          'permission_denied',
          'conflict',
          'rate_limited',
          'worker_unreachable',
          'worker_not_configured'
        ]
      }
    },
    async (request, reply) => {
      // This browser cannot use the flow a second time, whether it succeeds or not.
      reply.clearCookie(cookieName, attributes)
      const { identity, accessCode, returnTo } = await oidc.finish(
        new URL(request.url, config.linkOrigin).searchParams,
        request.cookies[cookieName] ?? null
      )
      const user = (await findIdentityOwner(db, identity)) ?? (await admit(request, identity, accessCode))
      sessions.setCookie(reply, await openSession(db, user.id, request.headers['user-agent'] ?? null))
      return sent(reply.redirect(returnTo, 302))
    }
  )

  /** The account of a person who signs in through the provider for the first time. */
  async function admit(request: FastifyRequest, given: ProvidedIdentity, accessCode: string | null): Promise<User> {
    const { email } = given
    if (email === null || !request.compileValidationSchema(Email, 'body')(email))
      throw new ServiceError(
        'permission_denied',
        'The identity provider gave no e-mail address of yours that can be used: let it share one with this service (scope email)'
      )
    const identity = { ...given, email }
    const linked = await linkIdentity(db, identity)
    if (linked) return linked
    if (!config.codesNeeded) return signUpWithIdentity(db, identity, null)
    if (accessCode === null)
      throw validationError(`code: is required for your first sign-in; begin again at ${START}?code=<access code>`)
    // As at a sign-up with a password: taken before the look-up, and given back once the account exists.
    const giveBack = await takeLimit(deps.limiter, request, 'validateCode')
    const user = await signUpWithIdentity(db, identity, accessCode)
    await giveBack()
    return user
  }
}
