// What a test changes at the emulated Azure alone: secrets and keys, how long tokens and signatures are valid, when a cost is
// known, and the response to a repeated PUT.
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { credentialsOf, workspaces } from './identity/identities.js'
import type { AzureParts } from './parts.js'
import { accountKey } from './storage/sas.js'

const yearMs = 366 * 24 * 3600 * 1000
const strict = { additionalProperties: false }
const duration = Type.Optional(Type.Integer({ minimum: 0, maximum: yearMs }))

const bodies = {
  key: Type.Object({ id: Type.String(), active: Type.Boolean() }, strict),
  settings: Type.Object(
    {
      token_ms: duration,
      sas_ms: duration,
      cost_ms: duration,
      repeated_put: Type.Optional(Type.Enum(['conflict', 'same']))
    },
    strict
  )
}

export function azureControls(app: FastifyInstance, { identities, settings }: AzureParts): void {
  app.get('/keys', async () => ({
    keys: identities.list().map((identity) => ({
      id: identity.id,
      active: identity.active,
      credentials: credentialsOf(identity)
    })),
    storage: workspaces.map(({ name, storageAccount }) => ({
      workspace_name: name,
      account: storageAccount,
      account_key: accountKey(storageAccount)
    }))
  }))
  app.post<{ Body: Static<typeof bodies.key> }>('/keys', { schema: { body: bodies.key } }, async ({ body }, reply) => {
    const identity = identities.get(body.id)
    if (!identity) {
      const ids = identities.list().map(({ id }) => id)
      return reply.code(400).send({ error: `There is no key ${body.id} (keys: ${ids.join(', ')}).` })
    }
    identity.active = body.active
    return { ok: true }
  })
  app.post<{ Body: Static<typeof bodies.settings> }>(
    '/settings',
    { schema: { body: bodies.settings } },
    async ({ body }) => {
      settings.tokenMs = body.token_ms ?? settings.tokenMs
      settings.sasMs = body.sas_ms ?? settings.sasMs
      settings.costMs = body.cost_ms ?? settings.costMs
      settings.repeatedPut = body.repeated_put ?? settings.repeatedPut
      return { ok: true }
    }
  )
}
