// Platform administration of access codes, with which people sign up.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { makeAccessCode } from '../../../db/admin/administration.js'
import { findAccessCode, listAccessCodes } from '../../../db/admin/administration-lists.js'
import { postgresCode } from '../../../db/client.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
import { pageView } from '../../../domain/json/page.js'
import { ACCESS_CODE_USES_MAX, accessCodePattern, accessCodeView } from '../../../domain/operations/administration.js'
import type { ApiDeps } from '../deps.js'
import { userOf } from '../http/access.js'
import { count, json, nullable, pageEnd, text, time } from '../http/response.js'
import { pageFields } from './admin-search.js'

const AccessCode = Type.Object(
  { code: text, remaining_uses: count, expires_at: nullable(time), created_at: time },
  { $id: 'AccessCode' }
)

export const adminAccessCodeRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/admin/access-codes',
    {
      schema: {
        tags: ['administration'],
        summary: 'Access codes, newest first, used-up and expired ones included',
        querystring: Type.Object(pageFields, { additionalProperties: false }),
        response: { 200: json('The codes', Type.Object({ access_codes: Type.Array(AccessCode), ...pageEnd })) }
      }
    },
    async (request) => {
      const { rows, total } = await listAccessCodes(db, request.query)
      return { access_codes: rows.map(accessCodeView), ...pageView(total, request.query) }
    }
  )

  app.post(
    '/api/admin/access-codes',
    {
      schema: {
        tags: ['administration'],
        summary: 'Make an access code; a random one unless it is named',
        body: Type.Object(
          {
            code: Type.Optional(Type.String({ pattern: accessCodePattern })),
            uses: Type.Integer({ minimum: 1, maximum: ACCESS_CODE_USES_MAX }),
            expires_at: Type.Optional(Type.String({ format: 'date-time' }))
          },
          { additionalProperties: false }
        ),
        response: { 201: json('The code', AccessCode) },
        errors: ['conflict']
      }
    },
    async (request, reply) => {
      const { code: given, uses, expires_at } = request.body
      const expiresAt = expires_at === undefined ? null : readExpiry(expires_at, deps.now())
      return app.writeOnce(request, reply, async ({ tx }) => {
        const code = await makeAccessCode(tx, userOf(request), {
          ...(given !== undefined && { code: given }),
          uses,
          expiresAt
        }).catch((error) => {
          if (postgresCode(error) !== '23505') throw error
          throw new ServiceError('conflict', 'code: this access code exists already; choose another')
        })
        return { status: 201, body: accessCodeView((await findAccessCode(tx, code))!) }
      })
    }
  )
}

function readExpiry(text: string, now: Date): Date {
  const at = new Date(text)
  // The format allows leap seconds, which a Date does not know.
  if (Number.isNaN(at.getTime())) throw invalidExpiry(`must be an ISO 8601 time (got ${JSON.stringify(text)})`)
  if (at <= now) throw invalidExpiry(`must be in the future (got ${text})`)
  return at
}

const invalidExpiry = (message: string) => validationError(`expires_at: ${message}`)
