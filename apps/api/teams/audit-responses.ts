// Answers about audit trails and the keys that sign them.
import { Type } from 'typebox'
import { auditActions } from '../../../domain/audit/audit-action.js'
import { count, nullable, ok, oneOf, type ResponseSet, ref, text, time, uuid } from '../http/response-schema.js'

const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' })
const Page = Type.Object({
  entries: Type.Array(ref('TrailEntry')),
  total: count,
  total_capped: Type.Optional(Type.Literal(true)),
  limit: Type.Integer(),
  offset: Type.Integer()
})

export const auditResponses: ResponseSet = {
  schemas: {
    TrailEntry: Type.Object(
      {
        seq: Type.Integer({ minimum: 1 }),
        team_id: uuid,
        capsule_id: nullable(uuid),
        action: oneOf(auditActions),
        actor: Type.String({ description: 'user:<id>, key:<id>, admin:<id> or system' }),
        at: time,
        previous_state: nullable(text),
        new_state: nullable(text),
        metadata: Type.Record(Type.String(), Type.Unknown()),
        prev_hash: Hash,
        hash: Hash
      },
      {
        description:
          'hash is the hex SHA-256 of prev_hash followed by the RFC 8785 JSON of all fields but prev_hash and hash; the first prev_hash is 64 zeros'
      }
    ),
    TrailReport: Type.Object({
      ok: Type.Boolean(),
      entries: count,
      head: Type.Object({ seq: count, hash: Hash }),
      first_broken: nullable(Type.Object({ seq: Type.Integer(), reason: text })),
      checkpoints: Type.Integer({ minimum: 0, description: 'signed checkpoints that hold' }),
      signed_up_to: Type.Integer({ minimum: 0, description: 'the last entry that a checkpoint signs' }),
      seals: Type.Integer({ minimum: 0, description: 'sealed capsules whose content is what was sealed' }),
      checkpoints_outside: nullable(
        Type.Object(
          {
            compared: Type.Boolean(),
            checkpoints: Type.Integer({ minimum: 0, description: 'of the team, in the file' }),
            unreadable_lines: Type.Integer({ minimum: 0, description: 'lines that name the team and hold none' }),
            reason: nullable(text)
          },
          { description: 'the file of checkpoints outside the database; null for whoever has no team' }
        )
      )
    })
  },
  answers: {
    'GET /api/capsules/:id/audit': { success: ok('Entries about the capsule', Page) },
    'GET /api/team/audit': { success: ok('Entries of the team', Page) },
    'GET /api/team/audit/verify': { success: ok('Whether the trail holds', ref('TrailReport')) },
    'GET /api/meta/keys': {
      success: ok(
        'Keys, the oldest first',
        Type.Object({
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
      )
    }
  }
}
