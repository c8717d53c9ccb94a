// What a capsule runs: its tasks, each with a copy of its program, so that a later change of a script changes no
// capsule. It is stored as RFC 8785 text, whose SHA-256 identifies the definition of a run.
import canonicalize from 'canonicalize'
import { type Static, Type } from 'typebox'
import { Check, Errors } from 'typebox/value'
import { ServiceError, validationError } from '../errors.js'
import { frameworkOfCircuit, frameworks } from '../jobs/framework.js'
import { programmingModels } from '../jobs/native/native-submission.js'
import { assertPoints, JobParams, paramsFromText } from '../jobs/params/params.js'
import { circuitFormats, type OpenqasmFormat, openqasmFormats, payloadsOf } from '../jobs/source.js'
import { type StoredSource, type Submission, TIMEOUT_SECONDS_DEFAULT, TIMEOUT_SECONDS_MAX } from '../jobs/submission.js'
import { DEPTH_MAX } from '../json/json-guard.js'
import { jsonDepth, jsonFields, jsonObject, stringOrNumber } from '../json/json-text.js'
import { oneOf } from '../json/one-of.js'
import type { MicroUsd } from '../money/money.js'
import { assertSuite, knownParameters } from './capsule-suite.js'
import { hasFolder } from './evidence-folder.js'

export const CAPSULE_TASKS_MAX = 50
/** The largest text of a definition, in bytes of UTF-8. A suite of large programs still fits into an export. */
export const DEFINITION_BYTES_MAX = 8 * 1024 * 1024
/** The shots of a task that sets none. */
export const SHOTS_DEFAULT = 1_000
/** The name of the only task in a capsule that was made from a job. */
export const MAIN_TASK = 'main'

const Uuid = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' })
const Program = Type.String({ minLength: 1, maxLength: 1_048_576 })
const AnyFramework = oneOf([...frameworks, 'auto'])

const INVISIBLE =
  '\\u0000-\\u001f\\u007f-\\u00a0\\u00ad\\u200b-\\u200f\\u2028-\\u202f\\u2060-\\u206f\\ud800-\\udfff\\ufeff'
const NAME_INSIDE = `[^${INVISIBLE}]`
const NAME_EDGE = `[^ ${INVISIBLE}]`

export const TaskName = Type.String({
  minLength: 1,
  maxLength: 100,
  // No control character, none that is invisible or turns the direction of text, no half of a character.
  pattern: `^${NAME_EDGE}(${NAME_INSIDE}*${NAME_EDGE})?$`,
  description: 'Any visible characters, and spaces inside'
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
      ),
      Type.Object(
        // A JSON array of as many circuits as the parameters have points.
        { kind: Type.Literal('circuits'), format: oneOf(openqasmFormats), text: Program },
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
    // The submitter's cap in micro-USD, as text; that of a native call is above.
    max_cost: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' })),
    backend: Type.String({ minLength: 1, maxLength: 100 }),
    parameters: Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true })),
    // The exact JSON text of the parameters, set when a number in it is larger than a JavaScript number can hold. The
    // job runs with this text.
    parameters_text: Type.Optional(Type.String({ maxLength: 4_194_304 })),
    execution_mode: oneOf(['direct', 'temporal']),
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

/** The definition of a draft that has no tasks yet. */
export const emptyDefinition: CapsuleDefinition = { tasks: [] }

/** Writes RFC 8785 text. Strings are unchanged, so a source is preserved byte for byte. */
export const definitionText = (definition: CapsuleDefinition): string => canonicalize(definition)!

/** @param text a text that `definitionText` wrote. */
export const readDefinition = (text: string): CapsuleDefinition => JSON.parse(text) as CapsuleDefinition

/**
 * Validates a definition from outside the service completely.
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

/** Checks that `parameters_text` and `parameters` agree. @throws ServiceError `validation_error`. */
export function assertParameterTexts({ tasks }: CapsuleDefinition): void {
  for (const [place, { parameters, parameters_text: text }] of tasks.entries()) {
    const where = `definition.tasks[${place}].parameters_text`
    if (text === undefined) continue
    // The functions below recurse once for each level.
    if (depthOf(text) > DEPTH_MAX) throw validationError(`${where}: is nested deeper than ${DEPTH_MAX} levels`)
    if (!isTextOf(text, parameters)) throw validationError(`${where}: is not the text of the parameters`)
  }
}

/** Text that is not JSON has depth 0. */
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
 * Checks what the schema cannot: references between tasks, and parameters that no job could have.
 * @param where the place of the tasks in the request.
 * @throws ServiceError `validation_error` naming the place.
 */
export function assertTasks(
  tasks: readonly (Pick<CapsuleTask, 'name' | 'parameters'> & Partial<Pick<CapsuleTask, 'source'>>)[],
  where = 'workflow.tasks'
): void {
  try {
    assertSuite(tasks)
  } catch (error) {
    if (error instanceof ServiceError) throw validationError(error.message.replace(/^tasks/, where))
    throw error
  }
  const folders = new Set<string>()
  for (const [place, { name, parameters, source }] of tasks.entries()) {
    if (folders.has(name.toLowerCase()))
      throw validationError(`${where}[${place}].name: another task has the same name in other case`)
    folders.add(name.toLowerCase())
    if (!hasFolder(name))
      throw validationError(
        `${where}[${place}].name: is too long for the name of a folder (characters beyond A-Z, a-z, 0-9, - and _ count 3 times for each of their bytes)`
      )
    assertParameters(knownParameters(parameters), `${where}[${place}].parameters`)
    if (source?.kind === 'circuits') assertPointForEach(source, parameters, `${where}[${place}]`)
  }
}

function assertPointForEach({ text }: { text: string }, { points }: CapsuleTask['parameters'], where: string): void {
  const payloads = readCircuitTexts(text, `${where}.source.text`)
  if (!Array.isArray(points) || points.length !== payloads.length)
    throw validationError(`${where}.parameters.points: must have an item for each of the ${payloads.length} circuits`)
}

/** @throws ServiceError `validation_error` unless the text is a JSON array of texts. */
function readCircuitTexts(text: string, where: string): string[] {
  try {
    const payloads: unknown = payloadsOf(text)
    if (Array.isArray(payloads) && payloads.length > 0 && payloads.every((one) => typeof one === 'string'))
      return payloads
  } catch {
    // It is no JSON at all.
  }
  throw validationError(`${where}: must be a JSON array of circuits`)
}

/** @throws ServiceError `validation_error` naming the first parameter that no job could have. */
export function assertParameters(parameters: Readonly<Record<string, unknown>>, where: string): void {
  const withShots = { shots: SHOTS_DEFAULT, ...parameters }
  if (Check(JobParams, withShots)) {
    assertPoints(withShots, (index) => `${where}.points[${index}]`)
    return
  }
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
      `workflow.tasks: the tasks with their programs must have at most ${DEFINITION_BYTES_MAX} bytes (got ${bytes})`
    )
}

/** The slugs of the backends that the tasks run on, without repetition. */
export const backendsOf = ({ tasks }: CapsuleDefinition): string[] => [...new Set(tasks.map(({ backend }) => backend))]

/** The exact JSON text of the parameters of the task's job, including shots and references. */
export const parametersText = ({ parameters, parameters_text: text }: CapsuleTask): string =>
  text ?? JSON.stringify({ shots: SHOTS_DEFAULT, ...parameters })

/**
 * The parameters of a task that an author wrote. Where their values say less than their text, the text is kept, and gets
 * the default of the shots, since it is what the job runs with.
 * @param text JSON of the same parameters, in which `1.0` is a float; `null` where the author gave none.
 */
export function authoredParameters(
  parameters: Readonly<Record<string, unknown>>,
  text: string | null
): Pick<CapsuleTask, 'parameters' | 'parameters_text'> {
  if (text === null || readParameters(text).exact) return { parameters }
  const whole = Object.hasOwn(parameters, 'shots')
    ? text
    : jsonObject([['shots', String(SHOTS_DEFAULT)], ...jsonFields(text)])
  return { parameters: readParameters(whole).parameters, parameters_text: whole }
}

/** Makes the task of a capsule from the job that ran it. */
export function taskOfJob(
  job: {
    backend: string
    params: string
    mode: CapsuleTask['execution_mode']
    timeoutSeconds: number
    circuitCount: number
  },
  { kind, format, framework, text, scriptId, version, native, maxCost }: StoredSource
): CapsuleTask {
  const program = { framework: framework as (typeof frameworks)[number], text }
  const { parameters, exact } = readParameters(job.params)
  return {
    name: MAIN_TASK,
    source:
      kind === 'circuit'
        ? { kind, format: format!, text }
        : kind === 'circuits'
          ? { kind, format: format as OpenqasmFormat, text }
          : kind === 'inline'
            ? { kind, ...program }
            : { kind, ...program, script_id: scriptId!, script_version: version! },
    ...(native
      ? { native: { ...native, max_cost: String(maxCost) } }
      : maxCost !== null && { max_cost: String(maxCost) }),
    backend: job.backend,
    parameters,
    ...(exact ? {} : { parameters_text: job.params }),
    execution_mode: job.mode,
    timeout_seconds: job.timeoutSeconds,
    circuit_count: job.circuitCount
  }
}

/**
 * Parses parameters for display: a number that a JSON parser would round becomes a string.
 * @returns `exact` is false when the values say less than the text, where `1.0` is a float.
 */
function readParameters(text: string): { parameters: Record<string, unknown>; exact: boolean } {
  let exact = true
  const readable = text.replace(stringOrNumber, (token) => {
    if (token.startsWith('"')) return token
    const value = Number(token)
    if (JSON.stringify(value) !== token) exact = false
    return isCarried(value) ? token : JSON.stringify(token)
  })
  return { parameters: JSON.parse(readable) as Record<string, unknown>, exact }
}

const isCarried = (value: number): boolean =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))

/** The submission of a task's job. Its parameters can still contain references to other tasks' results. */
export function submissionOfTask(
  task: CapsuleTask,
  of: { teamId: string; name: string | null }
): Submission & { teamId: string } {
  const { source, native } = task
  const cap = native?.max_cost ?? task.max_cost
  const fields = jsonFields(parametersText(task))
  if (!fields.has('shots')) fields.set('shots', String(SHOTS_DEFAULT))
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
    params: paramsFromText(jsonObject(fields)),
    mode: task.execution_mode,
    teamId: of.teamId,
    name: of.name,
    labels: [],
    timeoutSeconds: task.timeout_seconds,
    maxCost: cap === undefined ? null : (BigInt(cap) as MicroUsd),
    notBefore: null,
    circuitCount: task.circuit_count,
    notify: null,
    ...(native && { native: { model: native.model, entrypoint: native.entrypoint, input: native.input } })
  }
}

const circuitsView = ({ format, text }: { format: OpenqasmFormat; text: string }) =>
  payloadsOf(text).map((payload) => ({ format, payload }))

/** The tasks as the API shows them. */
export const workflowView = ({ tasks }: CapsuleDefinition) =>
  tasks.length === 0 ? null : { tasks: tasks.map(taskView) }

const taskView = (task: CapsuleTask) => ({
  name: task.name,
  script_id: task.source.kind === 'script' ? task.source.script_id : null,
  script_version: task.source.kind === 'script' ? task.source.script_version : null,
  ...(task.source.kind === 'inline' && { inline_code: task.source.text }),
  ...(task.source.kind === 'circuit' && { circuit: { format: task.source.format, payload: task.source.text } }),
  ...(task.source.kind === 'circuits' && { circuits: circuitsView(task.source) }),
  framework: 'framework' in task.source ? task.source.framework : frameworkOfCircuit(task.source),
  backend: task.backend,
  parameters: task.parameters,
  ...(task.parameters_text !== undefined && { parameters_text: task.parameters_text }),
  execution_mode: task.execution_mode,
  timeout_seconds: task.timeout_seconds,
  authorable: isAuthorable(task)
})

/** Whether the tasks of a create or change request can say all that this one holds. */
const isAuthorable = ({ source, native, max_cost, parameters, circuit_count }: CapsuleTask): boolean =>
  (source.kind === 'script' || source.kind === 'inline') &&
  native === undefined &&
  max_cost === undefined &&
  circuit_count === circuitCountOf(parameters)

/** The circuits of a task that an author wrote. */
export const circuitCountOf = ({ circuit_count }: Readonly<Record<string, unknown>>): number =>
  typeof circuit_count === 'number' ? circuit_count : 1

/** Settings of a task that does not set them. */
export const taskDefaults = {
  execution_mode: 'direct',
  timeout_seconds: TIMEOUT_SECONDS_DEFAULT
} as const satisfies Partial<CapsuleTask>
