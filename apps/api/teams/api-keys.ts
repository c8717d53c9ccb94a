// API keys for programs: /api/team/api-keys.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { createApiKey, listApiKeys, revokeApiKey, teamOfApiKey } from '../../../db/teams/api-keys.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { microFromUsd } from '../../../domain/money/money.js'
import { keyKinds, keyTiers } from '../../../domain/teams/api-key.js'
import { API_KEYS_MAX } from '../../../domain/teams/team-limits.js'
import type { ApiDeps } from '../deps.js'
import { ownerForWrite, readTeam, teamForWrite, userOf } from '../http/access.js'
import { ShownOnce, shownOnce } from '../http/idempotency.js'
import { done, json, success } from '../http/response.js'
import { ApiKey, apiKeyView, NewApiKey } from './api-key-view.js'

const Uuid = Type.String({ format: 'uuid' })
const NewKeyBody = Type.Object(
  {
    team_id: Type.Optional(Uuid),
    name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }),
    tier: oneOf(keyTiers, 'read; simulate: also write and run on free backends; qpu: also on paid ones'),
    kind: oneOf(keyKinds, 'test keys run on free backends only'),
    daily_limit_usd: Type.Optional(Type.Union([Type.Number({ minimum: 0, maximum: 1_000_000_000 }), Type.Null()])),
    expires_at: Type.Optional(Type.Union([Type.String({ format: 'date-time' }), Type.Null()]))
  },
  { additionalProperties: false }
)

export const apiKeyRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/team/api-keys',
    {
      schema: {
        tags: ['API keys'],
        summary: "A team's keys (owner and admins); never the keys themselves",
        querystring: Type.Object({ team_id: Type.Optional(Uuid) }),
        response: { 200: json('The keys', Type.Object({ api_keys: Type.Array(ApiKey) })) }
      }
    },
    async (request) => {
      const team = await readTeam(request, db, request.query.team_id)
      if (!team) return { api_keys: [] }
      return { api_keys: (await listApiKeys(db, team.id)).map((row) => apiKeyView(request, team, row)) }
    }
  )

  app.post(
    '/api/team/api-keys',
    {
      schema: {
        tags: ['API keys'],
        summary: 'Make a key (owner and admins); `key` is shown only once',
        description: 'It acts as you, as a member of this team at most, and ends when you leave the team.',
        body: NewKeyBody,
        response: { 201: json('The key; without it when the request is repeated', Type.Union([NewApiKey, ShownOnce])) },
        errors: ['conflict']
      }
    },
    async (request, reply) => {
      const { team_id, name, tier, kind, daily_limit_usd, expires_at } = request.body
      const dailyLimit = readDailyLimit(daily_limit_usd ?? null)
      const expiresAt = readExpiry(expires_at ?? null, deps.now())
      return app.writeOnce(request, reply, async ({ tx }) => {
        const teamId = await teamForWrite(request, tx, team_id ?? null, 'update')
        if ((await listApiKeys(tx, teamId)).length >= API_KEYS_MAX)
          throw new ServiceError('conflict', `The team has ${API_KEYS_MAX} keys, which is the most; revoke one first`)
        const createdBy = userOf(request).id
        const given = { teamId, createdBy, name: name.trim(), tier, kind, dailyLimit, expiresAt }
        const { row, key } = await createApiKey(tx, given)
        return {
          status: 201,
          body: { ...apiKeyView(request, (await readTeam(request, tx, teamId))!, row), key },
          kept: shownOnce(row.id, 'key')
        }
      })
    }
  )

  app.delete(
    '/api/team/api-keys/:id',
    {
      schema: {
        tags: ['API keys'],
        summary: 'Revoke a key at once (owner and admins)',
        params: Type.Object({ id: Uuid }),
        response: { 200: done }
      }
    },
    async (request, reply) => {
      const { id } = request.params
      return app.writeOnce(request, reply, async ({ tx }) => {
        await ownerForWrite(request, tx, await teamOfApiKey(tx, id), 'key')
        await revokeApiKey(tx, id)
        return { body: success }
      })
    }
  )
}

function readDailyLimit(usd: number | null): bigint | null {
  if (usd === null) return null
  const micro = microFromUsd(usd)
  if (micro === null) throw validationError(`daily_limit_usd: must have at most 6 decimals (got ${usd})`)
  return micro
}

function readExpiry(text: string | null, now: Date): Date | null {
  if (text === null) return null
  const time = new Date(text)
  if (Number.isNaN(time.getTime()) || time <= now)
    throw validationError(`expires_at: must be in the future (got ${JSON.stringify(text)})`)
  return time
}
