// What a test changes at the emulated AWS alone: keys, session tokens, the bucket, queues and failed shots.
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { isoTime } from '../clock.js'
import { account } from './aws/keys.js'
import { regions } from './aws/signature.js'
import type { BraketParts } from './parts.js'

const yearMs = 366 * 24 * 3600 * 1000
const strict = { additionalProperties: false }

const bodies = {
  key: Type.Object({ access_key_id: Type.String(), active: Type.Boolean() }, strict),
  token: Type.Object(
    {
      expires_in_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: yearMs })),
      account: Type.Optional(Type.String({ pattern: '^\\d{12}$' }))
    },
    strict
  ),
  bucket: Type.Object(
    {
      bucket: Type.String(),
      region: Type.Union([Type.Null(), Type.String({ pattern: `^(${regions.join('|')})$` })])
    },
    strict
  ),
  settings: Type.Object(
    {
      list_bucket: Type.Optional(Type.Boolean()),
      queue_depth: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
      failed_shots: Type.Optional(Type.Number({ minimum: 0, maximum: 1 }))
    },
    strict
  )
}

const hourMs = 3_600_000

export function braketControls(app: FastifyInstance, { keys, objects, settings }: BraketParts): void {
  app.get('/keys', async () => ({
    keys: keys.list().map((pair) => ({
      access_key_id: pair.accessKeyId,
      secret_access_key: pair.secretAccessKey,
      account: pair.account,
      active: pair.active,
      expires_at: pair.token && isoTime(pair.token.expiresAt)
    }))
  }))
  app.post<{ Body: Static<typeof bodies.key> }>('/keys', { schema: { body: bodies.key } }, async ({ body }, reply) => {
    const pair = keys.get(body.access_key_id)
    if (!pair) return reply.code(400).send({ error: `There is no key ${body.access_key_id}.` })
    pair.active = body.active
    return { ok: true }
  })
  app.post<{ Body: Static<typeof bodies.token> }>('/tokens', { schema: { body: bodies.token } }, async ({ body }) => {
    const pair = keys.issue(body.account ?? account, body.expires_in_ms ?? hourMs)
    return {
      access_key_id: pair.accessKeyId,
      secret_access_key: pair.secretAccessKey,
      session_token: pair.token!.text,
      expires_at: isoTime(pair.token!.expiresAt)
    }
  })
  app.post<{ Body: Static<typeof bodies.bucket> }>(
    '/buckets',
    { schema: { body: bodies.bucket } },
    async ({ body }, reply) => {
      try {
        objects.move(body.bucket, body.region)
        return { ok: true }
      } catch (error) {
        return reply.code(400).send({ error: (error as Error).message })
      }
    }
  )
  app.post<{ Body: Static<typeof bodies.settings> }>(
    '/settings',
    { schema: { body: bodies.settings } },
    async ({ body }) => {
      objects.listBucket = body.list_bucket ?? objects.listBucket
      settings.queueDepth = body.queue_depth ?? settings.queueDepth
      settings.failedShots = body.failed_shots ?? settings.failedShots
      return { ok: true }
    }
  )
}
