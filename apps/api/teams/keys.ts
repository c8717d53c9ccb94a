// The public keys with which this installation signs seals and checkpoints of audit trails: anybody may check them.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { judgedKeys } from '../../../services/audit/audit-proof.js'
import type { ApiDeps } from '../deps.js'

export const keyRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  app.get(
    '/api/meta/keys',
    {
      schema: {
        tags: ['service'],
        summary: 'Public keys that sign seals and audit checkpoints, retired ones included',
        description:
          'key_id is the first 16 hex digits of the SHA-256 of the public key (SubjectPublicKeyInfo, DER). What a key signed before it was retired stays valid.'
      }
    },
    async (request) => {
      // Nobody shall trust a row that somebody put in or changed.
      const { rows, unproven } = await judgedKeys(deps.db, deps.keyRing)
      const hidden = [...unproven.keys()]
      if (hidden.length > 0) request.log.error({ hidden }, 'signing keys are not shown: qjob audit verify --database')
      return {
        keys: rows.map(({ keyId, publicKeyPem, createdAt, retiredAt }) => ({
          key_id: keyId,
          algorithm: 'ed25519',
          public_key_pem: publicKeyPem,
          created_at: createdAt.toISOString(),
          retired_at: retiredAt?.toISOString() ?? null
        }))
      }
    }
  )
}
