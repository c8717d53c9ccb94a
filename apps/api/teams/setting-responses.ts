// Answers about what a team has set up: keys, credentials, webhooks, budget.
import { Type } from 'typebox'
import { credentialProviders } from '../../../domain/backends/provider-credentials.js'
import { keyKinds, keyTiers } from '../../../domain/teams/api-key.js'
import { webhookEvents } from '../../../domain/teams/webhook.js'
import {
  count,
  created,
  done,
  listOf,
  nullable,
  ok,
  oneOf,
  type ResponseSet,
  ref,
  text,
  time,
  usd,
  uuid
} from '../http/response-schema.js'

const validation = oneOf(['untested', 'valid', 'invalid', 'unreachable'])

const apiKey = {
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
  created_at: time
}

const webhook = { id: uuid, team_id: uuid, url: text, events: Type.Array(oneOf(webhookEvents)), created_at: time }

/** `name` in the first answer, and what is left of it for whoever repeats the request. */
const shownOnceOr = (name: string) => Type.Union([ref(name), ref('ShownOnce')])

const limits = Type.Object({ per_job_usd: usd, per_suite_usd: usd, daily_usd: usd, monthly_usd: usd })
const period = {
  spent_usd: usd,
  reserved_usd: usd,
  remaining_usd: Type.Number({ description: 'USD; below 0 when the limit was lowered' })
}
const budget = { success: ok('The budget', ref('Budget')) }

export const teamSettingResponses: ResponseSet = {
  schemas: {
    ApiKey: Type.Object(apiKey),
    NewApiKey: Type.Object({ ...apiKey, key: Type.String({ description: 'The key itself, shown this once' }) }),
    ShownOnce: Type.Object({
      id: uuid,
      key: Type.Optional(Type.Null()),
      secret: Type.Optional(Type.Null()),
      message: text
    }),
    Secret: Type.Object({
      id: uuid,
      team_id: uuid,
      provider: oneOf(credentialProviders),
      key_name: text,
      masked_value: Type.String({ description: 'The same for every value' }),
      status: oneOf(['active', 'invalid']),
      validation_status: validation,
      validated_at: nullable(time),
      created_at: time,
      updated_at: time
    }),
    Webhook: Type.Object(webhook),
    NewWebhook: Type.Object({
      ...webhook,
      secret: Type.String({ description: 'What its messages are signed with, shown this once' })
    }),
    Delivery: Type.Object({
      id: uuid,
      event: oneOf(webhookEvents),
      state: oneOf(['pending', 'delivered', 'failed']),
      tries: count,
      last_status: nullable(Type.Integer()),
      last_error: nullable(text),
      created_at: time,
      delivered_at: nullable(time)
    }),
    Budget: Type.Object({
      team_id: Type.Unsafe({ ...nullable(uuid), description: 'null for a caller who has no team yet' }),
      limits,
      ceilings: limits,
      day: Type.Object({ date: Type.String({ format: 'date' }), ...period }),
      month: Type.Object({ month: Type.String({ pattern: '^\\d{4}-\\d{2}$' }), ...period })
    })
  },
  answers: {
    'GET /api/team/api-keys': { success: ok('The keys', listOf('api_keys', 'ApiKey')) },
    'POST /api/team/api-keys': {
      success: created('The key; without it when the request is repeated', shownOnceOr('NewApiKey')),
      errors: ['conflict']
    },
    'DELETE /api/team/api-keys/:id': { success: done },

    'GET /api/team/secrets': { success: ok('The credentials', listOf('secrets', 'Secret')) },
    'POST /api/team/secrets': {
      success: created('What the team has of this provider', listOf('secrets', 'Secret')),
      errors: ['not_available']
    },
    'POST /api/team/secrets/test': {
      success: ok(
        'What was found',
        Type.Object({
          valid: Type.Boolean(),
          provider: oneOf(credentialProviders),
          message: text,
          checked_at: time,
          details: Type.Object({ validation_status: validation })
        })
      ),
      errors: ['not_available']
    },
    'DELETE /api/team/secrets/:id': { success: done },

    'GET /api/team/webhooks': { success: ok('The webhooks', listOf('webhooks', 'Webhook')) },
    'POST /api/team/webhooks': {
      success: created('The webhook; without its secret when the request is repeated', shownOnceOr('NewWebhook')),
      errors: ['conflict', 'not_available']
    },
    'DELETE /api/team/webhooks/:id': { success: done },
    'GET /api/team/webhooks/:id/deliveries': { success: ok('The log', listOf('deliveries', 'Delivery')) },

    'GET /api/team/usage': {
      success: {
        200: {
          description: 'The usage; with format=csv a table of date, provider, backend, jobs, shots, spend_usd',
          body: Type.Object({
            period: Type.Object({ start: text, end: text, month: text }),
            summary: Type.Object({ totalSpend: usd, lastMonthSpend: usd, changePercent: nullable(Type.Number()) }),
            byProvider: Type.Array(Type.Object({ provider: text, spend: usd, jobs: count, shots: count })),
            byBackend: Type.Array(
              Type.Object({ backend: text, name: text, provider: text, spend: usd, jobs: count, shots: count })
            ),
            daily: Type.Array(Type.Object({ date: text, spend: usd, jobs: count }))
          }),
          also: 'text/csv'
        }
      }
    },
    'GET /api/team/budget': budget,
    'PATCH /api/team/budget': budget,
    'GET /api/admin/teams/:id/budgets': budget,
    'PUT /api/admin/teams/:id/budgets': budget
  }
}
