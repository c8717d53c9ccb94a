// Answers of accounts, sessions and profiles.
import { Type } from 'typebox'
import {
  count,
  done,
  listOf,
  nullable,
  ok,
  type ResponseSet,
  ref,
  type SuccessResponse,
  text,
  time,
  uuid
} from '../http/response-schema.js'

const signedIn: SuccessResponse = {
  description: 'Signed in',
  body: Type.Object({ user: ref('User') }),
  headers: ['Set-Cookie']
}
const onwards = (description: string): Record<302, SuccessResponse> => ({
  302: { description, headers: ['Location', 'Set-Cookie'] }
})
const profile = { success: ok('The profile', ref('Profile')) }
const optionalText = nullable(text)

export const accountResponses: ResponseSet = {
  schemas: {
    User: Type.Object({
      id: uuid,
      email: text,
      username: text,
      display_name: optionalText,
      is_platform_admin: Type.Boolean(),
      created_at: time
    }),
    Session: Type.Object({
      id: uuid,
      created_at: time,
      last_seen_at: time,
      user_agent: optionalText,
      current: Type.Boolean({ description: 'The one that asks' })
    }),
    Profile: Type.Object({
      username: text,
      display_name: optionalText,
      bio: optionalText,
      avatar_url: optionalText,
      website: optionalText,
      location: optionalText,
      github_username: optionalText,
      twitter_username: optionalText,
      linkedin_url: optionalText,
      is_public: Type.Boolean()
    })
  },
  answers: {
    'POST /api/auth/validate-code': {
      success: ok('What the code is worth', Type.Object({ valid: Type.Boolean(), remaining_uses: count }))
    },
    'POST /api/auth/sign-up': {
      success: { 201: signedIn },
      // With an invitation: it may be dead, its team suspended or full. A wrong code counts as a look at a code.
      errors: ['not_found', 'team_suspended', 'conflict', 'rate_limited']
    },
    'POST /api/auth/sign-in': { success: { 200: signedIn }, errors: ['unauthorized'] },
    'POST /api/auth/forgot-password': {
      success: { 202: { description: 'A mail is under way if the address has an account', body: ref('Done') } }
    },
    'POST /api/auth/reset-password': { success: done },
    'POST /api/auth/change-password': { success: done },
    'GET /api/auth/oidc/start': {
      success: onwards("To the provider's page"),
      errors: ['unauthorized', 'permission_denied', 'worker_unreachable', 'worker_not_configured']
    },
    'GET /api/auth/oidc/callback': {
      success: onwards('Signed in'),
      errors: [
        'unauthorized',
        'permission_denied',
        'conflict',
        'rate_limited',
        'worker_unreachable',
        'worker_not_configured'
      ]
    },
    'GET /api/auth/session': {
      success: ok('Who asks', Type.Object({ user: ref('User'), teams: Type.Array(ref('Team')) }))
    },
    'GET /api/auth/sessions': { success: ok('The sessions', listOf('sessions', 'Session')) },
    'DELETE /api/auth/sessions/:id': { success: { 204: { description: 'It has ended' } } },
    'POST /api/auth/sign-out': { success: { 204: { description: 'It has ended', headers: ['Set-Cookie'] } } },
    'GET /api/profile': profile,
    'PATCH /api/profile': profile,
    'DELETE /api/profile': {
      success: { 200: { description: 'It is done', body: ref('Done'), headers: ['Set-Cookie'] } },
      errors: ['conflict']
    },
    'GET /api/profiles/:username': profile
  }
}
