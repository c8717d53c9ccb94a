// Answers about saved scripts.
import { Type } from 'typebox'
import type { ErrorCode } from '../../../domain/errors.js'
import { frameworks } from '../../../domain/jobs/framework.js'
import { jobStatuses } from '../../../domain/jobs/job-status.js'
import { scriptTypes } from '../../../domain/scripts/script.js'
import {
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

const itemFields = {
  id: uuid,
  slug: text,
  name: text,
  description: text,
  script_type: oneOf(scriptTypes),
  category: text,
  is_public: Type.Boolean({ description: 'Published' }),
  is_hardcoded: Type.Boolean({ description: 'A template of the platform' }),
  created_at: time,
  executions_count: count
}

const scriptFields = {
  ...itemFields,
  framework: oneOf(frameworks),
  script_content: text,
  requirements: nullable(text),
  user_id: nullable(uuid),
  team_id: nullable(uuid),
  version: Type.Integer({ minimum: 1 }),
  source_sha256: sha256,
  metadata: ref('ScriptMetadata'),
  is_active: Type.Boolean(),
  published_at: nullable(time),
  updated_at: time,
  executions: Type.Array(
    Type.Object({
      id: uuid,
      status: oneOf(jobStatuses),
      backend: text,
      created_at: time,
      completed_at: nullable(time),
      estimated_cost_usd: usd
    }),
    { maxItems: 10 }
  )
}

const warnings = Type.Array(text)
const reading = ['worker_unreachable', 'worker_not_configured'] as const satisfies ErrorCode[]

export const scriptResponses: ResponseSet = {
  schemas: {
    ScriptSummary: Type.Object(itemFields),
    Script: Type.Object(scriptFields),
    ScriptMetadata: Type.Object({
      framework: nullable(oneOf(frameworks)),
      imports: Type.Array(text),
      functions: Type.Array(
        Type.Object({
          name: text,
          parameters: Type.Array(text),
          is_task: Type.Boolean(),
          is_workflow: Type.Boolean(),
          retries: nullable(Type.Integer()),
          timeout: nullable(Type.Number())
        })
      ),
      entry_point: nullable(Type.String({ description: '`main`, the name of the one workflow, or `circuit`' })),
      qubits: Type.Optional(Type.Integer({ minimum: 0, description: 'Where the source leaves no doubt' })),
      source_sha256: sha256
    }),
    ScriptCheck: Type.Object({
      id: text,
      level: oneOf(['info', 'warning', 'error']),
      message: text,
      line: Type.Optional(Type.Integer({ minimum: 1 }))
    })
  },
  answers: {
    'GET /api/scripts': { success: ok('The scripts, without their sources', pageOf('scripts', 'ScriptSummary')) },
    'GET /api/scripts/:id': { success: ok('The script', ref('Script')) },
    'POST /api/scripts': {
      success: created('It is saved', Type.Object({ script_id: uuid })),
      errors: ['not_found', 'slug_conflict', 'conflict', 'rate_limited', ...reading]
    },
    'POST /api/scripts/upload': {
      success: ok(
        'It is saved',
        Type.Object({
          script_id: uuid,
          slug: text,
          name: text,
          script_type: oneOf(scriptTypes),
          status: Type.Literal('validated'),
          validation_warnings: warnings,
          metadata: ref('ScriptMetadata')
        })
      ),
      errors: ['slug_conflict', 'conflict', ...reading]
    },
    'PATCH /api/scripts/:id': {
      success: ok('The script as it is now', Type.Object({ ...scriptFields, validation_warnings: warnings })),
      errors: ['conflict', 'rate_limited', ...reading]
    },
    'DELETE /api/scripts/:id': { success: done },
    'POST /api/scripts/:id/publish': { success: ok('The script as it is now', ref('Script')) },
    'GET /api/scripts/:id/execution-options': {
      success: ok(
        'Every backend',
        Type.Object({
          script_id: uuid,
          source_sha256: sha256,
          team: nullable(
            Type.Object({ id: uuid, name: text, role: oneOf(['owner', 'admin', 'member']), suspended: Type.Boolean() })
          ),
          destinations: Type.Array(
            Type.Object({
              backend: text,
              name: text,
              available: Type.Boolean(),
              reason: nullable(text),
              estimated_cost_usd: usd,
              requires_analysis: Type.Boolean()
            })
          )
        })
      )
    },
    'POST /api/scripts/:id/analyse': {
      success: ok(
        'What there is to know',
        Type.Object({
          analysis_id: uuid,
          content_hash: Type.String({ description: 'A hint by which clients know the text: djb2, signed, in decimal' }),
          can_run: Type.Boolean({ description: 'No check is of level error' }),
          checks: Type.Array(ref('ScriptCheck')),
          cost: Type.Object({
            total_usd: usd,
            breakdown: Type.Object({ task_fee: usd, per_shot: usd, shots: count, tasks: count, minimum_cost: usd })
          })
        })
      ),
      errors: ['analysis_mismatch', 'backend_unknown', 'rate_limited', ...reading]
    }
  }
}
