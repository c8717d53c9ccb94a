// Entries of a team's audit trail, and the report of its proof. The view of an entry is domain's
// (domain/audit/audit-action.ts).
import { type Static, Type } from 'typebox'
import type { AuditReport } from '../../../../db/proofs/audit-verify.js'
import { auditActions } from '../../../../domain/audit/audit-action.js'
import { oneOf } from '../../../../domain/json/one-of.js'
import { count, nullable, sha256, text, time, uuid } from '../../http/response.js'
import type { OutsideCheckpoints } from './outside-checkpoints.js'

export const TrailEntry = Type.Object(
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
    prev_hash: sha256,
    hash: sha256
  },
  {
    $id: 'TrailEntry',
    description:
      'hash is the hex SHA-256 of prev_hash followed by the RFC 8785 JSON of all fields except prev_hash and hash; the first prev_hash is 64 zeros'
  }
)

export const TrailReport = Type.Object(
  {
    ok: Type.Boolean(),
    entries: count,
    head: Type.Object({ seq: count, hash: sha256 }),
    first_broken: nullable(Type.Object({ seq: Type.Integer(), reason: text })),
    checkpoints: Type.Integer({ minimum: 0, description: 'Signed checkpoints that hold' }),
    signed_up_to: Type.Integer({ minimum: 0, description: 'The last entry that a checkpoint signs' }),
    seals: Type.Integer({ minimum: 0, description: 'Sealed capsules whose content matches their seal' }),
    checkpoints_outside: nullable(
      Type.Object(
        {
          compared: Type.Boolean(),
          checkpoints: Type.Integer({ minimum: 0, description: 'Checkpoints of the team there' }),
          unreadable_lines: Type.Integer({
            minimum: 0,
            description: 'Lines or objects that name the team and hold no checkpoint'
          }),
          reason: nullable(text)
        },
        {
          description:
            'The checkpoints outside the database, in a file or in the content store; null for a caller without a team'
        }
      )
    )
  },
  { $id: 'TrailReport' }
)

export const reportView = (
  { ok, entries, head, firstBroken, checkpoints, signedUpTo, seals }: AuditReport,
  outside: OutsideCheckpoints | null
): Static<typeof TrailReport> => ({
  ok: ok && !outside?.fails,
  entries,
  head,
  first_broken: firstBroken,
  checkpoints,
  signed_up_to: signedUpTo,
  seals,
  checkpoints_outside: outside && {
    compared: outside.reason === null,
    checkpoints: outside.points.length,
    unreadable_lines: outside.unreadableLines,
    reason: outside.reason
  }
})
