// A saved script as the API shows it.
import { type Static, Type } from 'typebox'
import type { VersionItem } from '../../../db/scripts/script-versions.js'
import type { Execution, ScriptHead, ScriptItem } from '../../../db/scripts/scripts.js'
import { type Framework, frameworks } from '../../../domain/jobs/framework.js'
import { jobStatuses } from '../../../domain/jobs/job-status.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { usdFromMicro } from '../../../domain/money/money.js'
import { scriptTypes } from '../../../domain/scripts/script.js'
import { parameterTypes } from '../../../domain/scripts/template-parameter.js'
import { count, nullable, sha256, text, time, usd, uuid } from '../http/response.js'
import { ScriptActions } from './script-actions.js'

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
    framework: oneOf(frameworks),
    team_id: nullable(uuid, '`null` for templates'),
    version: Type.Integer({ minimum: 1, description: 'The present one' }),
    created_at: time,
    executions_count: count
  },
  { $id: 'ScriptSummary' }
)

const TemplateParameter = Type.Object(
  {
    name: text,
    type: oneOf(parameterTypes, '`integers` is a list, `object` a JSON object'),
    default: Type.Unsafe<unknown>({
      description: 'Used where the parameter is left out; `null` where the template then does without'
    }),
    minimum: Type.Optional(Type.Number({ description: 'Of the number, or of each of `integers`' })),
    maximum: Type.Optional(Type.Number()),
    pattern: Type.Optional(Type.String({ description: 'Regular expression that a text matches' })),
    min_items: Type.Optional(
      Type.Integer({ minimum: 1, description: 'How many different values `integers` has at least' })
    ),
    description: text
  },
  { $id: 'TemplateParameter' }
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
    source_sha256: sha256,
    parameters: Type.Optional(
      Type.Array(TemplateParameter, { description: 'Of templates: what they take besides shots' })
    )
  },
  { $id: 'ScriptMetadata' }
)

const EXECUTIONS_MAX = 10

export const Script = Type.Object(
  {
    ...ScriptSummary.properties,
    script_content: text,
    requirements: nullable(text),
    user_id: nullable(uuid, 'Its owner'),
    source_sha256: sha256,
    metadata: ScriptMetadata,
    is_active: Type.Boolean(),
    published_at: nullable(time),
    updated_at: time,
    can: ScriptActions,
    executions: Type.Array(
      Type.Object({
        id: uuid,
        status: oneOf(jobStatuses),
        backend: text,
        script_version: nullable(Type.Integer({ minimum: 1 }), 'The version that it ran'),
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

/** A warning with its place, in the shape of the `errors` of a refusal. */
const ScriptWarning = Type.Object(
  {
    field: oneOf(['script_content', 'requirements', 'script_type']),
    message: text,
    line: nullable(Type.Integer({ minimum: 1 }), 'Of the field')
  },
  { $id: 'ScriptWarning' }
)
export type ScriptWarning = Static<typeof ScriptWarning>

/** The response to a change, with the reader's warnings. */
export const ChangedScript = Type.Object({
  ...Script.properties,
  validation_warnings: warnings,
  warnings: Type.Array(ScriptWarning)
})

/** The response to an upload. */
export const SavedScript = Type.Object({
  script_id: uuid,
  slug: text,
  name: text,
  script_type: oneOf(scriptTypes),
  status: Type.Literal('validated'),
  validation_warnings: warnings,
  warnings: Type.Array(ScriptWarning),
  metadata: ScriptMetadata
})

export const VersionSummary = Type.Object(
  {
    version: Type.Integer({ minimum: 1 }),
    framework: oneOf(frameworks),
    source_sha256: sha256,
    source_bytes: count,
    created_by: nullable(uuid, '`null` for templates, and after the account was deleted'),
    created_at: time
  },
  { $id: 'ScriptVersionSummary' }
)

export const ScriptVersion = Type.Object(
  { ...VersionSummary.properties, script_content: text, requirements: nullable(text), metadata: ScriptMetadata },
  { $id: 'ScriptVersion' }
)

export const versionItemView = (row: VersionItem): Static<typeof VersionSummary> => ({
  version: row.version,
  framework: row.framework as Framework,
  source_sha256: row.sourceSha256,
  source_bytes: row.bytes,
  created_by: row.createdBy,
  created_at: row.createdAt.toISOString()
})

export const versionView = (
  row: VersionItem & { content: string; requirements: string | null; metadata: Static<typeof ScriptMetadata> }
): Static<typeof ScriptVersion> => ({
  ...versionItemView(row),
  script_content: row.content,
  requirements: row.requirements,
  metadata: row.metadata
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
  framework: script.framework as Framework,
  team_id: script.teamId,
  version: script.version,
  created_at: script.createdAt.toISOString(),
  executions_count: script.executions
})

/** What of a script depends on who reads it. */
interface ScriptReaderFacts {
  executionsCount: number
  executions: Execution[]
  can: Static<typeof ScriptActions>
}

/** The whole script, with the last jobs of the caller's teams that ran it. */
export const scriptView = (
  script: Omit<ScriptHead, 'contentBytes'> & { content: string },
  { executionsCount, executions, can }: ScriptReaderFacts
): Static<typeof Script> => ({
  ...scriptItemView({ ...script, executions: executionsCount }),
  script_content: script.content,
  requirements: script.requirements,
  user_id: script.userId,
  source_sha256: script.sourceSha256,
  metadata: script.metadata,
  is_active: script.isActive,
  published_at: script.publishedAt?.toISOString() ?? null,
  updated_at: script.updatedAt.toISOString(),
  can,
  executions: executions.map((job) => ({
    id: job.id,
    status: job.status,
    backend: job.backend,
    script_version: job.scriptVersion,
    created_at: job.createdAt.toISOString(),
    completed_at: job.completedAt?.toISOString() ?? null,
    estimated_cost_usd: usdFromMicro(job.estimatedCost)
  }))
})
