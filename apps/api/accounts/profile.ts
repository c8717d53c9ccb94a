// Profiles, and the deletion of an account: /api/profile, /api/profiles/:username.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { passwordHashOf } from '../../../db/accounts/passwords.js'
import { changeProfile, findProfile, findPublicProfile } from '../../../db/accounts/profiles.js'
import { accountDeletion, deleteAccount } from '../../../db/deletion/account-deletion.js'
import { isReservedUsername } from '../../../domain/accounts/username.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
import type { ApiDeps } from '../deps.js'
import { callerOf, userOf } from '../http/access.js'
import { done, json, success } from '../http/response.js'
import type { Sessions } from '../http/session.js'
import { isPassword } from './password-hash.js'
import { NO_PASSWORD } from './passwords.js'
import { AccountDeletion, accountDeletionView, Profile, profileView } from './profile-view.js'

const text = (maxLength: number) => Type.Optional(Type.Union([Type.String({ maxLength }), Type.Null()]))
/** The console makes a link of it, so it must be one part of a path. Empty for none. */
const name = (maxLength: number, pattern: string) =>
  Type.Optional(Type.Union([Type.String({ maxLength, pattern }), Type.Null()]))

const ProfileBody = Type.Object(
  {
    username: Type.Optional(Type.String({ minLength: 3, maxLength: 30, pattern: '^[A-Za-z0-9_-]+$' })),
    display_name: text(100),
    bio: text(500),
    avatar_url: text(500),
    website: text(200),
    location: text(100),
    github_username: name(39, '^([A-Za-z0-9](-?[A-Za-z0-9])*)?$'),
    twitter_username: name(15, '^[A-Za-z0-9_]*$'),
    linkedin_url: text(200),
    is_public: Type.Optional(Type.Boolean())
  },
  { additionalProperties: false }
)

const urlFields = ['avatar_url', 'website', 'linkedin_url'] as const

export const profileRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps; sessions: Sessions }> = async (
  app,
  { deps, sessions }
) => {
  const { db } = deps

  app.get(
    '/api/profile',
    { schema: { tags: ['profiles'], summary: 'Your profile', response: { 200: json('The profile', Profile) } } },
    async (request) => profileView((await findProfile(db, userOf(request).id))!)
  )

  app.patch(
    '/api/profile',
    {
      schema: {
        tags: ['profiles'],
        summary: 'Change your profile; what is left out stays',
        body: ProfileBody,
        response: { 200: json('The profile', Profile) }
      }
    },
    async (request, reply) => {
      const { body } = request
      for (const field of urlFields) assertWebAddress(field, body[field] ?? null)
      if (body.username !== undefined && isReservedUsername(body.username))
        throw validationError('username: is reserved; choose another one')
      const change = {
        ...(body.username !== undefined && { username: body.username }),
        ...(body.display_name !== undefined && { displayName: body.display_name }),
        ...(body.bio !== undefined && { bio: body.bio }),
        ...(body.avatar_url !== undefined && { avatarUrl: body.avatar_url }),
        ...(body.website !== undefined && { website: body.website }),
        ...(body.location !== undefined && { location: body.location }),
        ...(body.github_username !== undefined && { githubUsername: body.github_username }),
        ...(body.twitter_username !== undefined && { twitterUsername: body.twitter_username }),
        ...(body.linkedin_url !== undefined && { linkedinUrl: body.linkedin_url }),
        ...(body.is_public !== undefined && { isPublic: body.is_public })
      }
      return app.writeOnce(request, reply, async ({ tx }) => ({
        body: profileView((await changeProfile(tx, userOf(request).id, change))!)
      }))
    }
  )

  app.delete(
    '/api/profile',
    {
      schema: {
        tags: ['profiles'],
        summary: 'Delete your account and the teams that are yours alone',
        description: `Refused while you own a team with other members, and while jobs of your teams are under way. ${NO_PASSWORD}`,
        body: Type.Object({ password: Type.String({ maxLength: 200 }) }, { additionalProperties: false }),
        response: { 200: { ...done, responseHeaders: ['Set-Cookie'] } },
        errors: ['conflict', 'service_busy']
      }
    },
    async (request, reply) => {
      const user = userOf(request)
      if (!(await isPassword(await passwordHashOf(db, user.id), request.body.password)))
        throw validationError('password: is not your password')
      await deleteAccount(db, callerOf(request))
      sessions.clearCookie(reply)
      return success
    }
  )

  app.get(
    '/api/profile/deletion',
    {
      schema: {
        tags: ['profiles'],
        summary: 'What the deletion of your account would take along, and what stands in its way',
        response: { 200: json('What goes with the account', AccountDeletion) }
      }
    },
    async (request) => accountDeletionView(await accountDeletion(db, userOf(request).id))
  )

  app.get(
    '/api/profiles/:username',
    {
      schema: {
        tags: ['profiles'],
        summary: 'A public profile',
        params: Type.Object({ username: Type.String({ maxLength: 100 }) }),
        response: { 200: json('The profile', Profile) }
      }
    },
    async (request) => {
      const profile = await findPublicProfile(db, request.params.username)
      if (!profile) throw new ServiceError('not_found', 'no such profile')
      return profileView(profile)
    }
  )
}

/**
 * The console shows it as a link, so it must be a web page, and lead where it seems to: `https://bank.example@evil.example`
 * has a user name, and browsers drop line ends. The service never requests it.
 */
function assertWebAddress(field: string, value: string | null): void {
  if (value === null || value === '') return
  const url = URL.canParse(value) ? new URL(value) : null
  if (!url || !/^https?:\/\/[^\s\p{Cc}\\]+$/iu.test(value))
    throw validationError(`${field}: must be an address that begins with http:// or https://, without spaces`)
  if (url.username !== '' || url.password !== '')
    throw validationError(`${field}: must not contain a user name or a password`)
}
