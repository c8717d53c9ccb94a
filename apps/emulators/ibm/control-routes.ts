// What a test changes at the emulated IBM Cloud alone: API keys, access tokens, queues, limits and what jobs use.
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import type { IbmParts } from './parts.js'

const yearMs = 366 * 24 * 3600 * 1000
const yearSeconds = yearMs / 1000
const strict = { additionalProperties: false }

const bodies = {
  key: Type.Object({ token: Type.String(), active: Type.Boolean() }, strict),
  tokens: Type.Object(
    {
      expire: Type.Optional(Type.Literal(true)),
      expires_in_ms: Type.Optional(Type.Integer({ minimum: 1000, maximum: yearMs }))
    },
    strict
  ),
  settings: Type.Object(
    {
      queue_depth: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
      starts_per_minute: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
      usage_lag_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: yearMs })),
      qpu_seconds: Type.Optional(Type.Union([Type.Number({ minimum: 0, maximum: yearSeconds }), Type.Null()])),
      usage_limit_seconds: Type.Optional(Type.Union([Type.Number({ minimum: 0, maximum: yearSeconds }), Type.Null()]))
    },
    strict
  )
}

export function ibmControls(app: FastifyInstance, { keys, tokens, settings }: IbmParts): void {
  app.get('/keys', async () => ({
    keys: keys.list().map(({ token, account, instance, active }) => ({ token, account, instance, active }))
  }))
  app.post<{ Body: Static<typeof bodies.key> }>('/keys', { schema: { body: bodies.key } }, async ({ body }, reply) => {
    const key = keys.get(body.token)
    if (!key) return reply.code(400).send({ error: 'There is no such API key; GET keys lists them.' })
    key.active = body.active
    return { ok: true }
  })
  app.post<{ Body: Static<typeof bodies.tokens> }>('/tokens', { schema: { body: bodies.tokens } }, async ({ body }) => {
    if (body.expires_in_ms !== undefined) tokens.setLife(Math.floor(body.expires_in_ms / 1000))
    if (body.expire) tokens.expireAll()
    return { ok: true }
  })
  app.post<{ Body: Static<typeof bodies.settings> }>(
    '/settings',
    { schema: { body: bodies.settings } },
    async ({ body }) => {
      settings.queueDepth = body.queue_depth ?? settings.queueDepth
      settings.startsPerMinute = body.starts_per_minute ?? settings.startsPerMinute
      settings.usageLagMs = body.usage_lag_ms ?? settings.usageLagMs
      if (body.qpu_seconds !== undefined) settings.qpuSeconds = body.qpu_seconds
      if (body.usage_limit_seconds !== undefined) settings.usageLimitSeconds = body.usage_limit_seconds
      return { ok: true }
    }
  )
}
