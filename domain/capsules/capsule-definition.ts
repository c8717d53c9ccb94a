// What a capsule runs: its tasks, each with the program itself, so that a later change of a script changes no capsule. Kept
// as RFC 8785 text, whose SHA-256 says whether a run was a run of this definition.
import canonicalize from 'canonicalize'
import { type Static, Type } from 'typebox'
import { Check, Errors } from 'typebox/value'
import { ServiceError, validationError } from '../errors.js'
import { frameworks } from '../jobs/framework.js'
import { executionModes } from '../jobs/job-status.js'
import { programmingModels } from '../jobs/native-submission.js'
import {
  circuitFormats,
  JobParams,
  type StoredSource,
  type Submission,
  TIMEOUT_SECONDS_DEFAULT,
  TIMEOUT_SECONDS_MAX
} from '../jobs/submission.js'
import { DEPTH_MAX } from '../json/json-guard.js'
import { jsonDepth } from '../json/json-text.js'
import { oneOf } from '../json/one-of.js'
import type { MicroUsd } from '../money/money.js'
import { assertSuite, knownParameters } from './capsule-suite.js'

export const CAPSULE_TASKS_MAX = 50
/** Of the definition's text in UTF-8: a suite of large programs still fits into an export. */
export const DEFINITION_BYTES_MAX = 8 * 1024 * 1024
/** Where a task of a workflow says nothing. */
export const SHOTS_DEFAULT = 1_000
/** The task of a capsule that was made from a job. */
export const MAIN_TASK = 'main'

const Uuid = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' })
const Program = Type.String({ minLength: 1, maxLength: 1_048_576 })
const AnyFramework = oneOf([...frameworks, 'auto'])

export const TaskName = Type.String({
  minLength: 1,
  maxLength: 100,
  // It names a folder of the evidence as well.
  pattern: '^[A-Za-z0-9_-]([A-Za-z0-9 _.-]*[A-Za-z0-9_-])?$',
  description: 'Letters, digits, - and _, within also dots and spaces'
})

export const CapsuleTask = Type.Object(
  {
    name: TaskName,
    source: Type.Union([
      Type.Object(
        {
          kind: Type.Literal('script'),
          script_id: Uuid,
          script_version: Type.Integer({ minimum: 1 }),
          framework: AnyFramework,
          text: Program
        },
        { additionalProperties: false }
      ),
      Type.Object(
        { kind: Type.Literal('inline'), framework: AnyFramework, text: Program },
        { additionalProperties: false }
      ),
      Type.Object(
        { kind: Type.Literal('circuit'), format: oneOf(circuitFormats), text: Program },
        { additionalProperties: false }
      )
    ]),
    native: Type.Optional(
      Type.Object(
        {
          model: oneOf(programmingModels),
          entrypoint: Type.String({ minLength: 1, maxLength: 1_000 }),
          input: Program,
          // Micro-USD, as text.
          max_cost: Type.String({ pattern: '^[0-9]{1,15}$' })
        },
        { additionalProperties: false }
      )
    ),
    backend: Type.String({ minLength: 1, maxLength: 100 }),
    parameters: Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true })),
    // The same as JSON text, where a number in them is larger than a JavaScript number can hold: this is what runs.
    parameters_text: Type.Optional(Type.String({ maxLength: 4_194_304 })),
    execution_mode: oneOf(executionModes),
    timeout_seconds: Type.Integer({ minimum: 1, maximum: TIMEOUT_SECONDS_MAX }),
    circuit_count: Type.Integer({ minimum: 1, maximum: 1_000 })
  },
  { additionalProperties: false }
)
export type CapsuleTask = Static<typeof CapsuleTask>

export const CapsuleDefinition = Type.Object(
  { tasks: Type.Array(CapsuleTask, { maxItems: CAPSULE_TASKS_MAX }) },
  { additionalProperties: false }
)
export type CapsuleDefinition = Static<typeof CapsuleDefinition>

/** Nothing to run yet. */
export const emptyDefinition: CapsuleDefinition = { tasks: [] }

/** RFC 8785 text, strings as they are: a source is kept to the byte. */
export const definitionText = (definition: CapsuleDefinition): string => canonicalize(definition)!

/** @param text as `definitionText` wrote it. */
export const readDefinition = (text: string): CapsuleDefinition => JSON.parse(text) as CapsuleDefinition

/**
 * A definition from outside, taken at its word in nothing.
 * @throws ServiceError `validation_error` naming the place.
 */
export function assertDefinition(value: unknown): CapsuleDefinition {
  if (!Check(CapsuleDefinition, value)) {
    const [fault] = Errors(CapsuleDefinition, value)
    throw validationError(
      `definition${fault?.instancePath.replaceAll('/', '.') ?? ''}: ${fault?.message ?? 'is not valid'}`
    )
  }
  assertTasks(value.tasks, 'definition.tasks')
  assertParameterTexts(value)
  assertSize(value)
  return value
}

/** Parameters that stand there as text too, for their large numbers, are the same in both. @throws ServiceError `validation_error`. */
export function assertParameterTexts({ tasks }: CapsuleDefinition): void {
  for (const [place, { parameters, parameters_text: text }] of tasks.entries()) {
    const where = `definition.tasks[${place}].parameters_text`
    if (text === undefined) continue
    // What follows calls itself for each level.
    if (depthOf(text) > DEPTH_MAX) throw validationError(`${where}: is nested deeper than ${DEPTH_MAX} levels`)
    if (!isTextOf(text, parameters)) throw validationError(`${where}: is not the text of the parameters`)
  }
}

/** No JSON has no depth. */
function depthOf(text: string): number {
  try {
    return jsonDepth(text)
  } catch {
    return 0
  }
}

function isTextOf(text: string, parameters: Readonly<Record<string, unknown>>): boolean {
  try {
    return canonicalize(readParameters(text).parameters) === canonicalize(parameters)
  } catch {
    return false
  }
}

/**
 * What the schema does not say: references between tasks, parameters that a job could not have.
 * @param where the tasks' place in what was sent.
 * @throws ServiceError `validation_error` naming the place.
 */
export function assertTasks(
  tasks: readonly { name: string; parameters: Readonly<Record<string, unknown>> }[],
  where = 'workflow.tasks'
): void {
  try {
    assertSuite(tasks)
  } catch (error) {
    if (error instanceof ServiceError) throw validationError(error.message.replace(/^tasks/, where))
    throw error
  }
  const folders = new Set<string>()
  for (const [place, { name, parameters }] of tasks.entries()) {
    if (folders.has(name.toLowerCase()))
      throw validationError(`${where}[${place}].name: another task has the same name but for upper and lower case`)
    folders.add(name.toLowerCase())
    assertParameters(knownParameters(parameters), `${where}[${place}].parameters`)
  }
}

/** @throws ServiceError `validation_error` for parameters that no job could have, naming the first. */
export function assertParameters(parameters: Readonly<Record<string, unknown>>, where: string): void {
  const withShots = { shots: SHOTS_DEFAULT, ...parameters }
  if (Check(JobParams, withShots)) return
  for (const [name, schema] of Object.entries(JobParams.properties)) {
    if (!Object.hasOwn(withShots, name)) continue
    const [fault] = Errors(schema, (withShots as Record<string, unknown>)[name])
    if (fault)
      throw validationError(
        `${where}.${name}: ${fault.message} (got ${JSON.stringify(parameters[name])?.slice(0, 60)})`
      )
  }
  throw validationError(`${where}: must be an object`)
}

/** @throws ServiceError `validation_error`. */
export function assertSize(definition: CapsuleDefinition): void {
  const bytes = new TextEncoder().encode(definitionText(definition)).length
  if (bytes > DEFINITION_BYTES_MAX)
    throw validationError(
      `workflow.tasks: the tasks with their programs have ${bytes} bytes, at most ${DEFINITION_BYTES_MAX} are possible`
    )
}

/** The slugs of the backends that the tasks run on, each once. */
export const backendsOf = ({ tasks }: CapsuleDefinition): string[] => [...new Set(tasks.map(({ backend }) => backend))]

/** JSON text of the parameters as the task's job gets them, references included: shots stand in it. */
export const parametersText = ({ parameters, parameters_text: text }: CapsuleTask): string =>
  text ?? JSON.stringify({ shots: SHOTS_DEFAULT, ...parameters })

/** What a job ran, as the one task of a capsule. */
export function taskOfJob(
  job: {
    backend: string
    params: string
    mode: CapsuleTask['execution_mode']
    timeoutSeconds: number
    circuitCount: number
  },
  { kind, format, framework, text, scriptId, version, native }: StoredSource
): CapsuleTask {
  const program = { framework: framework as (typeof frameworks)[number], text }
  const { parameters, exact } = readParameters(job.params)
  return {
    name: MAIN_TASK,
    source:
      kind === 'circuit'
        ? { kind, format: format!, text }
        : kind === 'inline'
          ? { kind, ...program }
          : { kind, ...program, script_id: scriptId!, script_version: version! },
    ...(native && { native: { ...native.call, max_cost: String(native.maxCost) } }),
    backend: job.backend,
    parameters,
    ...(exact ? {} : { parameters_text: job.params }),
    execution_mode: job.mode,
    timeout_seconds: job.timeoutSeconds,
    circuit_count: job.circuitCount
  }
}

const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** Parameters to look at: a number that a JSON reader would not carry as it was written stands as text, and `exact` is false. */
function readParameters(text: string): { parameters: Record<string, unknown>; exact: boolean } {
  let exact = true
  const readable = text.replace(stringOrNumber, (token) => {
    if (token.startsWith('"') || isCarried(Number(token))) return token
    exact = false
    return JSON.stringify(token)
  })
  return { parameters: JSON.parse(readable) as Record<string, unknown>, exact }
}

const isCarried = (value: number): boolean =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))

/** The submission of a task's job. Its parameters hold no references any more. */
export function submissionOfTask(
  task: CapsuleTask,
  of: { teamId: string; name: string | null }
): Submission & { teamId: string } {
  const { source, native } = task
  return {
    source:
      source.kind === 'script'
        ? {
            kind: 'script',
            framework: source.framework,
            text: source.text,
            scriptId: source.script_id,
            version: source.script_version
          }
        : source,
    backend: task.backend,
    params: { shots: SHOTS_DEFAULT, ...task.parameters } as Submission['params'],
    mode: task.execution_mode,
    teamId: of.teamId,
    name: of.name,
    labels: [],
    timeoutSeconds: task.timeout_seconds,
    maxCost: native ? (BigInt(native.max_cost) as MicroUsd) : null,
    notBefore: null,
    circuitCount: task.circuit_count,
    notify: null,
    ...(native && { native: { model: native.model, entrypoint: native.entrypoint, input: native.input } })
  }
}

/** The tasks as the API shows them. */
export const workflowView = ({ tasks }: CapsuleDefinition) =>
  tasks.length === 0 ? null : { tasks: tasks.map(taskView) }

const taskView = (task: CapsuleTask) => ({
  name: task.name,
  script_id: task.source.kind === 'script' ? task.source.script_id : null,
  script_version: task.source.kind === 'script' ? task.source.script_version : null,
  ...(task.source.kind === 'inline' && { inline_code: task.source.text }),
  ...(task.source.kind === 'circuit' && { circuit: { format: task.source.format, payload: task.source.text } }),
  framework: task.source.kind === 'circuit' ? 'openqasm' : task.source.framework,
  backend: task.backend,
  parameters: task.parameters,
  execution_mode: task.execution_mode,
  timeout_seconds: task.timeout_seconds
})

/** Settings of a task that says nothing about them. */
export const taskDefaults = {
  execution_mode: 'direct',
  timeout_seconds: TIMEOUT_SECONDS_DEFAULT
} as const satisfies Partial<CapsuleTask>
