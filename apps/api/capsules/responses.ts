// Answers about capsules.
import { Type } from 'typebox'
import { capsuleStates } from '../../../domain/capsules/capsule-state.js'
import type { ErrorCode } from '../../../domain/errors.js'
import { frameworks } from '../../../domain/jobs/framework.js'
import {
  anything,
  count,
  created,
  done,
  nullable,
  ok,
  oneOf,
  pageOf,
  type ResponseSet,
  ref,
  text,
  time,
  usd,
  uuid
} from '../http/response-schema.js'

const sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })
const capsuleDigest = Type.String({ pattern: '^mqc:1:[0-9a-f]{64}$' })
const framework = oneOf([...frameworks, 'auto'])

const ownFields = {
  id: uuid,
  team_id: uuid,
  owner_id: nullable(uuid),
  name: text,
  description: text,
  tags: Type.Array(text),
  state: oneOf(capsuleStates),
  backends: Type.Array(text),
  max_budget_usd: nullable(usd),
  retention_years: nullable(count),
  regulatory_framework: nullable(text),
  source_job_id: nullable(uuid),
  cloned_from: nullable(uuid),
  created_at: time,
  updated_at: time
}

const program = {
  script_id: nullable(uuid),
  script_version: nullable(Type.Integer()),
  framework,
  inline_code: Type.Optional(text),
  circuit: Type.Optional(Type.Object({ format: oneOf(['qasm2', 'qasm3']), payload: text }))
}

const publicSeal = {
  digests: Type.Record(Type.String(), Type.String({ pattern: '^sha256:[0-9a-f]{64}$' })),
  root_digest: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
  capsule_digest: capsuleDigest,
  sealed_at: time,
  exit_code: Type.Integer(),
  margin: Type.Number({ description: 'Total variation distance that a verification tolerates' }),
  signature: Type.Object({ key_id: text, algorithm: Type.Literal('ed25519'), envelope: anything })
}

const publicFields = {
  id: uuid,
  slug: text,
  title: text,
  description: text,
  license: nullable(text),
  category: nullable(text),
  tags: Type.Array(text),
  published_at: time,
  backends: Type.Array(text),
  capsule_digest: capsuleDigest,
  sealed_at: time
}

const unknown = ['not_found', 'backend_unknown'] as const satisfies ErrorCode[]
const sealing = ['conflict', 'rate_limited', 'worker_not_configured'] as const satisfies ErrorCode[]

export const capsuleResponses: ResponseSet = {
  schemas: {
    CapsuleSummary: Type.Object({
      ...ownFields,
      capsule_digest: nullable(capsuleDigest),
      sealed_at: nullable(time),
      slug: nullable(text)
    }),
    Capsule: Type.Object({
      ...ownFields,
      workflow: nullable(ref('CapsuleWorkflow')),
      definition_sha256: sha256,
      spent_usd: usd,
      reserved_usd: usd,
      derived_from: nullable(capsuleDigest),
      imported: nullable(anything),
      script: nullable(Type.Object(program)),
      parameters: nullable(anything),
      evidence: ref('CapsuleEvidence'),
      seal: nullable(
        Type.Object({
          ...publicSeal,
          exit_message: nullable(text),
          warnings: Type.Array(text, { description: 'For each task whose sealed shots are too few for the margin' }),
          sealed_by: uuid,
          retained_until: nullable(time)
        })
      ),
      publication: nullable(
        Type.Object({
          slug: text,
          title: text,
          description: text,
          readme: nullable(text),
          license: nullable(text),
          category: nullable(text),
          tags: Type.Array(text),
          published_at: time,
          taken_down_at: nullable(time),
          takedown_reason: nullable(text)
        })
      ),
      schedule: nullable(
        Type.Object({
          cron: text,
          timezone: text,
          paused: Type.Boolean(),
          alert: Type.Object({ emails: Type.Array(text), on: Type.Array(text) })
        })
      )
    }),
    CapsuleWorkflow: Type.Object({
      tasks: Type.Array(
        Type.Object({
          name: text,
          ...program,
          backend: text,
          parameters: anything,
          execution_mode: oneOf(['direct', 'temporal']),
          timeout_seconds: Type.Integer({ minimum: 1 })
        })
      )
    }),
    CapsuleEvidence: Type.Object({
      task_executions: count,
      artifacts: Type.Array(Type.Object({ name: text, sha256, size_bytes: count, media_type: text }))
    }),
    PublicCapsuleSummary: Type.Object(publicFields),
    PublicCapsule: Type.Object({
      ...publicFields,
      name: text,
      readme: nullable(text),
      workflow: nullable(ref('CapsuleWorkflow')),
      regulatory_framework: nullable(text),
      evidence: ref('CapsuleEvidence'),
      seal: Type.Object(publicSeal)
    })
  },
  answers: {
    'POST /api/capsules/create': {
      success: created('It is a draft', Type.Object({ capsule_id: uuid })),
      errors: [...unknown, 'conflict']
    },
    'POST /api/capsules/from-job': {
      success: created('It is made', Type.Object({ capsule_id: uuid })),
      errors: ['not_found', ...sealing]
    },
    'GET /api/capsules': { success: ok('The capsules', pageOf('capsules', 'CapsuleSummary')) },
    'GET /api/capsules/public': {
      success: ok('Published capsules', pageOf('capsules', 'PublicCapsuleSummary'))
    },
    'GET /api/capsules/public/:slug': { success: ok('The capsule', ref('PublicCapsule')), errors: ['not_found'] },
    'GET /api/capsules/:id': { success: ok('The capsule', ref('Capsule')) },
    'PATCH /api/capsules/:id': { success: ok('The capsule as it is now', ref('Capsule')), errors: ['backend_unknown'] },
    'DELETE /api/capsules/:id': { success: done, errors: ['conflict'] },
    'POST /api/capsules/:id/seal': { success: ok('It is sealed', ref('Capsule')), errors: [...sealing] },
    'POST /api/capsules/:id/publish': { success: ok('It is published', ref('Capsule')), errors: ['slug_conflict'] },
    'POST /api/capsules/:id/archive': { success: ok('It is archived', ref('Capsule')) },
    'POST /api/capsules/:id/clone': {
      success: created('A draft of your own', Type.Object({ capsule_id: uuid })),
      errors: ['conflict']
    },
    'POST /api/admin/capsules/:id/takedown': {
      success: ok('It is out of the catalogue', ref('Capsule')),
      errors: ['conflict']
    }
  }
}
