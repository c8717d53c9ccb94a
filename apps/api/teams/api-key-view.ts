// An API key as the managers of its team see it: the key itself is shown only once, when it is created.
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { ApiKeyRow } from '../../../db/teams/api-keys.js'
import type { Membership } from '../../../db/teams/memberships.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { usdFromMicro } from '../../../domain/money/money.js'
import { keyKinds, keyTiers } from '../../../domain/teams/api-key.js'
import { nullable, text, time, usd, uuid } from '../http/response.js'
import { ApiKeyActions, apiKeyActions } from './can/team-actions.js'

export const ApiKey = Type.Object(
  {
    id: uuid,
    team_id: uuid,
    name: text,
    prefix: Type.String({ description: 'The first characters of the key' }),
    tier: oneOf(keyTiers),
    kind: oneOf(keyKinds),
    daily_limit_usd: nullable(usd),
    created_by: nullable(uuid),
    expires_at: nullable(time),
    last_used_at: nullable(time),
    created_at: time,
    can: ApiKeyActions
  },
  { $id: 'ApiKey' }
)

export const NewApiKey = Type.Object(
  { ...ApiKey.properties, key: Type.String({ description: 'The key itself, shown this once' }) },
  { $id: 'NewApiKey' }
)

export const apiKeyView = (request: FastifyRequest, team: Membership, row: ApiKeyRow): Static<typeof ApiKey> => ({
  id: row.id,
  team_id: row.teamId,
  name: row.name,
  prefix: row.prefix,
  tier: row.tier,
  kind: row.kind,
  daily_limit_usd: row.dailyLimit === null ? null : usdFromMicro(row.dailyLimit),
  created_by: row.createdBy,
  expires_at: row.expiresAt?.toISOString() ?? null,
  last_used_at: row.lastUsedAt?.toISOString() ?? null,
  created_at: row.createdAt.toISOString(),
  can: apiKeyActions(request, team)
})
