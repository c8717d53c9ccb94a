// A saved script as the API shows it.
import type { Execution, ScriptItem, ScriptRow } from '../../../db/scripts/scripts.js'
import { usdFromMicro } from '../../../domain/money/money.js'

/** The item of a list (interface specification 2.4). */
export const scriptItemView = (script: ScriptItem) => ({
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
export const scriptView = (script: ScriptRow, executionsCount: number, executions: Execution[]) => ({
  ...scriptItemView({ ...script, executions: executionsCount }),
  framework: script.framework,
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
