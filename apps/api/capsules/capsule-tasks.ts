// The tasks of a capsule as its definition stores them: each with the current text of its program.
import { findBackend } from '../../../db/backends/backends.js'
import type { DbOrTx } from '../../../db/client.js'
import { loadScript, loadScriptBySlug, type ScriptRow } from '../../../db/scripts/scripts.js'
import type { Caller } from '../../../db/teams/memberships.js'
import { adviceFor } from '../../../domain/backends/backend.js'
import {
  assertSize,
  assertTasks,
  authoredParameters,
  type CapsuleDefinition,
  type CapsuleTask,
  circuitCountOf,
  taskDefaults
} from '../../../domain/capsules/capsule-definition.js'
import type { WorkflowTask } from '../../../domain/capsules/capsule-fields.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
import { detectFramework, type Framework, frameworkNamed, frameworkNames } from '../../../domain/jobs/framework.js'

/**
 * The definition that schema-valid tasks describe.
 * @param texts of each task's parameters, as JSON; see `authoredParameters`.
 * @param where the place of the tasks in the request.
 * @throws ServiceError `validation_error`, `not_found` (script), `backend_unknown`, naming the place.
 */
export async function definitionOf(
  db: DbOrTx,
  caller: Caller,
  teamId: string,
  tasks: readonly WorkflowTask[],
  texts: readonly (string | null)[],
  where = 'workflow.tasks'
): Promise<CapsuleDefinition> {
  assertTasks(tasks, where)
  const resolved: CapsuleTask[] = []
  for (const [place, task] of tasks.entries())
    resolved.push({
      name: task.name,
      source: await sourceOf(db, caller, teamId, task, `${where}[${place}]`),
      backend: task.backend,
      ...authoredParameters(task.parameters, texts[place] ?? null),
      execution_mode: task.execution_mode ?? taskDefaults.execution_mode,
      timeout_seconds: task.timeout_seconds ?? taskDefaults.timeout_seconds,
      circuit_count: circuitCountOf(task.parameters)
    })
  for (const [place, { backend }] of tasks.entries()) await assertBackend(db, backend, `${where}[${place}].backend`)
  const definition = { tasks: resolved }
  assertSize(definition)
  return definition
}

/** @throws ServiceError `backend_unknown`. */
export async function assertBackend(db: DbOrTx, slug: string, where: string): Promise<void> {
  if (await findBackend(db, slug)) return
  throw new ServiceError(
    'backend_unknown',
    `${where}: no backend is called ${JSON.stringify(slug)}; ${adviceFor(slug)}`
  )
}

async function sourceOf(
  db: DbOrTx,
  caller: Caller,
  teamId: string,
  task: WorkflowTask,
  where: string
): Promise<CapsuleTask['source']> {
  const given = (['script_id', 'script_slug', 'inline_code'] as const).filter((key) => task[key] !== undefined)
  if (given.length !== 1)
    throw validationError(
      given.length === 0
        ? `${where}.script_id: is required (or script_slug, or inline_code)`
        : `${where}: exactly one of script_id, script_slug, inline_code is needed (got ${given.join(', ')})`
    )
  const { script_id: id, script_slug: slug, inline_code: text } = task
  const framework = task.framework && frameworkNamed(task.framework)
  if (text !== undefined) return { kind: 'inline', framework: framework ?? frameworkOf(text, where), text }
  const script = id !== undefined ? await loadScript(db, caller, id) : await loadScriptBySlug(db, teamId, slug!)
  if (!script) throw new ServiceError('not_found', `${where}.${given[0]}: no such script`)
  if (framework !== undefined && framework !== script.framework)
    throw validationError(`${where}.framework: the script is ${script.framework} (got ${JSON.stringify(framework)})`)
  return sourceOfScript(script)
}

const sourceOfScript = (script: ScriptRow): CapsuleTask['source'] => ({
  kind: 'script',
  script_id: script.id,
  script_version: script.version,
  framework: script.framework as Framework,
  text: script.content
})

function frameworkOf(code: string, where: string): Framework | 'auto' {
  const framework = detectFramework(code)
  if (framework) return framework
  throw validationError(
    `${where}.framework: could not be detected, because the code names no framework; send one of ${frameworkNames.join(', ')}`
  )
}
