// The public keys with which this installation signs seals and checkpoints of audit trails: anybody may check them.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { judgedKeys } from '../../../services/audit/audit-proof.js'
import type { ApiDeps } from '../deps.js'
import { json, nullable, text, time } from '../http/response.js'

const Keys = Type.Object({
  keys: Type.Array(
    Type.Object({
      key_id: Type.String({ pattern: '^[0-9a-f]{16}$' }),
      algorithm: Type.Literal('ed25519'),
      public_key_pem: text,
      created_at: time,
      retired_at: nullable(time)
    })
  )
})

export const keyRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  app.get(
    '/api/meta/keys',
    {
      schema: {
        tags: ['service'],
        summary: 'Public keys that sign seals and audit checkpoints, retired ones included',
        description:
          'key_id is the first 16 hex digits of the SHA-256 of the public key (SubjectPublicKeyInfo, DER). What a key signed before it was retired stays valid.',
        response: { 200: json('Keys, the oldest first', Keys) }
      }
    },
    async (request) => {
      // A row that was inserted or changed by hand must not be trusted.
      const { rows, unproven } = await judgedKeys(deps.db, deps.keyRing)
      const hidden = [...unproven.keys()]
      if (hidden.length > 0) request.log.error({ hidden }, 'signing keys are not shown: qjob audit verify --database')
      return {
        keys: rows.map(({ keyId, publicKeyPem, createdAt, retiredAt }) => ({
          key_id: keyId,
          algorithm: 'ed25519' as const,
          public_key_pem: publicKeyPem,
          created_at: createdAt.toISOString(),
          retired_at: retiredAt?.toISOString() ?? null
        }))
      }
    }
  )
}
