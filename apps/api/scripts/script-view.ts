// A saved script as the API shows it.
import { type Static, Type } from 'typebox'
import type { Execution, ScriptHead, ScriptItem } from '../../../db/scripts/scripts.js'
import { type Framework, frameworks } from '../../../domain/jobs/framework.js'
import { jobStatuses } from '../../../domain/jobs/job-status.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { usdFromMicro } from '../../../domain/money/money.js'
import { scriptTypes } from '../../../domain/scripts/script.js'
import { count, nullable, sha256, text, time, usd, uuid } from '../http/response.js'

export const ScriptSummary = Type.Object(
  {
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
  },
  { $id: 'ScriptSummary' }
)

const ScriptMetadata = Type.Object(
  {
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
  },
  { $id: 'ScriptMetadata' }
)

const EXECUTIONS_MAX = 10

export const Script = Type.Object(
  {
    ...ScriptSummary.properties,
    framework: oneOf(frameworks),
    script_content: text,
    requirements: nullable(text),
    user_id: nullable(uuid),
    team_id: nullable(uuid),
    version: Type.Integer({ minimum: 1 }),
    source_sha256: sha256,
    metadata: ScriptMetadata,
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
      { maxItems: EXECUTIONS_MAX }
    )
  },
  { $id: 'Script' }
)

const warnings = Type.Array(text)

/** The response to a change, with the reader's warnings. */
export const ChangedScript = Type.Object({ ...Script.properties, validation_warnings: warnings })

/** The response to an upload. */
export const SavedScript = Type.Object({
  script_id: uuid,
  slug: text,
  name: text,
  script_type: oneOf(scriptTypes),
  status: Type.Literal('validated'),
  validation_warnings: warnings,
  metadata: ScriptMetadata
})

/** A script in a list. */
export const scriptItemView = (script: ScriptItem): Static<typeof ScriptSummary> => ({
  id: script.id,
  slug: script.slug,
  name: script.name,
  description: script.description,
  script_type: script.scriptType,
  category: script.category,
  is_public: script.isPublic,
  is_hardcoded: script.isHardcoded,
  created_at: script.createdAt.toISOString(),
  executions_count: script.executions
})

/** The whole script, with the last jobs of the caller's teams that ran it. */
export const scriptView = (
  script: Omit<ScriptHead, 'contentBytes'> & { content: string },
  executionsCount: number,
  executions: Execution[]
): Static<typeof Script> => ({
  ...scriptItemView({ ...script, executions: executionsCount }),
  framework: script.framework as Framework,
  script_content: script.content,
  requirements: script.requirements,
  user_id: script.userId,
  team_id: script.teamId,
  version: script.version,
  source_sha256: script.sourceSha256,
  metadata: script.metadata,
  is_active: script.isActive,
  published_at: script.publishedAt?.toISOString() ?? null,
  updated_at: script.updatedAt.toISOString(),
  executions: executions.map((job) => ({
    id: job.id,
    status: job.status,
    backend: job.backend,
    created_at: job.createdAt.toISOString(),
    completed_at: job.completedAt?.toISOString() ?? null,
    estimated_cost_usd: usdFromMicro(job.estimatedCost)
  }))
})
