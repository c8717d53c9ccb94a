// The body of `POST /api/jobs/submit`, and the rules between its fields. The schema checks each field alone;
// `readSubmission` checks them together and returns a total value that the rest of the code trusts.
import { type Static, Type } from 'typebox'
import { ServiceError, validationError } from '../errors.js'
import { oneOf } from '../json/one-of.js'
import { type MicroUsd, microFromUsd } from '../money/money.js'
import { assertAnalogParams, assertAnalogProgram } from './circuits/analog-program.js'
import { detectFramework, type Framework, frameworkNamed, frameworkNames } from './framework.js'
import { type ExecutionMode, executionModes } from './job-status.js'
import type { NativeCall } from './native/native-submission.js'
import { assertPoints, JobParams, type ParsedParams, paramsFromBody, paramsFromText } from './params/params.js'
import type { CircuitFormat, OpenqasmFormat, SourceKind } from './source.js'
import { Circuit, Circuits, readCircuits, readPointsOf } from './submitted-circuits.js'

export const INLINE_CODE_MAX = 50_000
export const TIMEOUT_SECONDS_MAX = 900
export const TIMEOUT_SECONDS_DEFAULT = 120
const NOT_BEFORE_DAYS_MAX = 30

const Uuid = Type.String({ format: 'uuid' })

/** In the place of a slug: the service chooses (domain/backends/choice.ts). */
export const AUTO_BACKEND = 'auto'

/** The wishes of `backend: "auto"`, as a submission and an estimate name them. */
export const wishFields = {
  max_cost_usd: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000, description: 'Of the whole job' })),
  max_wait_seconds: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 31_536_000, description: 'In the queue of a provider, as it last reported' })
  ),
  min_qubits: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  hardware: Type.Optional(Type.Boolean({ description: 'true: a quantum computer, false: a simulator' }))
}

export const Choose = Type.Object(wishFields, {
  additionalProperties: false,
  description: 'What a backend must offer that `auto` chooses; needs `backend` auto'
})

/** The submitter's own cap of the cost of the whole job. */
export const maxCostField = Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000 }))

// Unknown top-level keys are dropped, so that newer clients can talk to this version.
export const SubmitBody = Type.Object(
  {
    script_id: Type.Optional(Uuid),
    script_slug: Type.Optional(Type.String({ pattern: '^[a-z0-9-]{1,200}$' })),
    inline_code: Type.Optional(Type.String({ minLength: 1, maxLength: INLINE_CODE_MAX })),
    circuit: Type.Optional(Type.Object(Circuit)),
    circuits: Type.Optional(Circuits),
    framework: Type.Optional(oneOf(frameworkNames, '`braket` is another name of `marqov`')),
    backend: Type.String({ minLength: 1, maxLength: 100, description: 'Slug, or `auto`' }),
    choose: Type.Optional(Choose),
    params: JobParams,
    create_capsule: Type.Optional(Type.Boolean()),
    capsule_name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    execution_mode: Type.Optional(oneOf(executionModes)),
    team_id: Type.Optional(Uuid),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    labels: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 50 }), { maxItems: 10 })),
    timeout_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: TIMEOUT_SECONDS_MAX })),
    max_cost_usd: maxCostField,
    not_before: Type.Optional(Type.String({ format: 'date-time' })),
    notify: Type.Optional(oneOf(['email'])),
    analysis_id: Type.Optional(Type.Union([Type.String({ maxLength: 200 }), Type.Null()])),
    warn_check_ids: Type.Optional(
      Type.Array(Type.String({ maxLength: 200 }), {
        maxItems: 100,
        description: 'The warnings of the analysis that the caller accepts; ignored without `analysis_id`'
      })
    ),
    sdk_version: Type.Optional(
      Type.String({ maxLength: 100, description: 'The version of the client; accepted, and not stored' })
    )
  },
  { $id: 'JobSubmission' }
)
export type SubmitBody = Static<typeof SubmitBody>

/** What the caller asks of the backend; `null` where anything will do. */
export interface Wishes {
  maxCost: MicroUsd | null
  maxWaitSeconds: number | null
  minQubits: number | null
  /** A quantum computer (`true`), or a simulator (`false`). */
  hardware: boolean | null
}

export interface Candidate {
  backend: string
  usable: boolean
  /** Why it was chosen, came after the chosen one, or cannot be used. */
  reason: string
  estimated_cost_usd: number
  /** What its provider last reported; 0 for simulators of this service, null for unknown. */
  wait_seconds: number | null
  max_qubits: number | null
  hardware: boolean
}

/** Stored with the job, as the API shows it. */
export interface BackendChoice {
  asked: {
    max_cost_usd: number | null
    max_wait_seconds: number | null
    min_qubits: number | null
    hardware: boolean | null
  }
  chosen: string
  at: string
  /** The chosen one first, then usable ones in order, then the others as in the catalogue. */
  candidates: Candidate[]
}

/** The source of a job's circuit. `text` is stored with the job and leaves Postgres only for the executor. */
export type JobSource =
  | { kind: 'inline'; framework: Framework | 'auto'; text: string }
  | { kind: 'script'; framework: Framework | 'auto'; text: string; scriptId: string; version: number }
  | { kind: 'circuit'; format: CircuitFormat; text: string }
  /** One circuit for each point of the parameters, as a JSON array of texts. */
  | { kind: 'circuits'; format: OpenqasmFormat; text: string }

/** A saved script that a submission names. The database resolves it. */
export interface SavedScript {
  kind: 'saved'
  by: { id: string } | { slug: string }
  /** The framework that the caller declares; `null` when the caller declares none. */
  framework: Framework | null
  /** The analysis that the caller has seen, and the warnings that they accepted. */
  analysis: { id: string; consents: readonly string[] } | null
}

export interface Submission<Source = JobSource> {
  source: Source
  backend: string
  /** Set where `backend` is `auto`: what to choose by. */
  choose?: Wishes
  /** Set once `backend` was chosen: why. */
  choice?: BackendChoice
  params: ParsedParams
  mode: ExecutionMode
  teamId: string | null
  name: string | null
  labels: string[]
  timeoutSeconds: number
  maxCost: MicroUsd | null
  notBefore: Date | null
  /** How many circuits the code declares to run; the estimate multiplies by it. */
  circuitCount: number
  /** How the submitter is notified when the job ends. */
  notify: 'email' | null
  /** Set for native submissions: the function to call, and its arguments. */
  native?: NativeCall
  /** Set when a capsule is made of the job on completion. Without a name, the capsule takes the job's. */
  capsule?: { name: string | null }
}

/**
 * Reads a schema-valid body.
 * @param text of the body.
 * @throws ServiceError `validation_error` for fields that contradict each other.
 */
export function readSubmission(body: SubmitBody, text: string, now: Date): Submission<JobSource | SavedScript> {
  const { source, params, choose, maxCost, notBefore } = allRead({
    source: () => readSource(body),
    params: () => readParams(body, text),
    analog: () => assertAnalog(body),
    capsule: () => assertCapsuleName(body),
    choose: () => readWishes(body.backend, body.choose, 'choose.'),
    maxCost: () => readUsd(body.max_cost_usd, 'max_cost_usd'),
    notBefore: () => readNotBefore(body.not_before, now)
  })
  return {
    source,
    backend: body.backend,
    ...(choose && { choose }),
    params,
    mode: body.execution_mode ?? 'direct',
    teamId: body.team_id ?? null,
    name: body.name ?? null,
    labels: body.labels ?? [],
    timeoutSeconds: body.timeout_seconds ?? TIMEOUT_SECONDS_DEFAULT,
    maxCost,
    notBefore,
    circuitCount: body.params.circuit_count ?? 1,
    notify: body.notify ?? null,
    ...(body.create_capsule && { capsule: { name: body.capsule_name ?? null } })
  }
}

/** @throws ServiceError `validation_error` for what an analog program does not have. */
function assertAnalog({ circuit, framework, params }: SubmitBody): void {
  if (circuit?.format !== 'ahs') return
  if (framework !== undefined)
    throw validationError(`framework: an analog program (ahs) has none (got ${JSON.stringify(framework)})`)
  assertAnalogProgram(circuit.payload, 'circuit.payload')
  assertAnalogParams(params)
}

type Read<Rules> = { [Name in keyof Rules]: Rules[Name] extends () => infer Value ? Value : never }

/** What each rule reads. @throws ServiceError `validation_error` with the faults that all of them find. */
function allRead<Rules extends Record<string, () => unknown>>(rules: Rules): Read<Rules> {
  const faults: string[] = []
  const values = Object.entries(rules).map(([name, read]) => {
    try {
      return [name, read()]
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'validation_error') throw error
      faults.push(error.message)
      return [name, undefined]
    }
  })
  if (faults.length > 0) throw validationError(faults.join('; '))
  return Object.fromEntries(values) as Read<Rules>
}

function assertCapsuleName({ capsule_name: name, create_capsule: wanted }: SubmitBody): void {
  if (name !== undefined && wanted !== true) throw validationError('capsule_name: needs create_capsule: true')
}

/**
 * The source that is stored with a job. `framework` is what the executor detected when the submission left it open.
 */
export interface StoredSource {
  kind: SourceKind
  format: CircuitFormat | null
  framework: string
  text: string
  /** Set for saved scripts: the script, and the version that ran. */
  scriptId: string | null
  version: number | null
  /** Set for native submissions, which always have a cap. */
  native: NativeCall | null
  /** The submitter's own cap of its cost. */
  maxCost: MicroUsd | null
}

/** A submission with the source, parameters, backend and cap of an earlier job, to start at once. */
export function submissionAgain(
  job: {
    backend: string
    params: string
    mode: ExecutionMode
    teamId: string
    name: string | null
    labels: string[]
    timeoutSeconds: number
    circuitCount: number
  },
  source: StoredSource
): Submission {
  return {
    source: sourceAgain(source),
    backend: job.backend,
    params: paramsFromText(job.params),
    mode: job.mode,
    teamId: job.teamId,
    name: job.name,
    labels: job.labels,
    timeoutSeconds: job.timeoutSeconds,
    maxCost: source.maxCost,
    notBefore: null,
    circuitCount: job.circuitCount,
    // The person who runs the job again may not be the one who submitted it.
    notify: null,
    ...(source.native && { native: source.native })
  }
}

function sourceAgain({ kind, format, framework, text, scriptId, version }: StoredSource): JobSource {
  if (kind === 'circuit') return { kind, format: format!, text }
  if (kind === 'circuits') return { kind, format: format as OpenqasmFormat, text }
  const program = { framework: framework as Framework | 'auto', text }
  return kind === 'inline' ? { kind, ...program } : { kind, ...program, scriptId: scriptId!, version: version! }
}

function readSource(body: SubmitBody): JobSource | SavedScript {
  const kinds = ['script_id', 'script_slug', 'inline_code', 'circuit', 'circuits'] as const
  const given = kinds.filter((key) => body[key] !== undefined)
  if (given.length !== 1)
    throw validationError(
      `send exactly one of ${kinds.join(', ')} (got ${given.length === 0 ? 'none' : given.join(', ')})`
    )
  const { script_id: id, script_slug: slug } = body
  const by = id !== undefined ? { id } : slug !== undefined ? { slug } : null
  if (by)
    return {
      kind: 'saved',
      by,
      framework: body.framework ? frameworkNamed(body.framework) : null,
      analysis: readAnalysis(body)
    }
  if (body.analysis_id)
    throw validationError('analysis_id: an analysis is of a saved script; send script_id or script_slug')
  if (body.circuit) {
    // Braket's dialect of OpenQASM 3 is read as a program of its framework.
    if (body.circuit.format === 'qasm3' && body.framework && frameworkNamed(body.framework) === 'marqov')
      return { kind: 'inline', framework: 'marqov', text: asCode(body.circuit.payload) }
    if (body.circuit.format !== 'ahs' && body.framework !== undefined && body.framework !== 'openqasm')
      throw validationError(
        `framework: a circuit in ${body.circuit.format} is openqasm (got ${JSON.stringify(body.framework)})`
      )
    return { kind: 'circuit', format: body.circuit.format, text: body.circuit.payload }
  }
  if (body.circuits) {
    if (body.framework !== undefined && body.framework !== 'openqasm')
      throw validationError(`framework: circuits are openqasm (got ${JSON.stringify(body.framework)})`)
    return { kind: 'circuits', ...readCircuits(body.circuits) }
  }
  const text = body.inline_code!
  return { kind: 'inline', framework: body.framework ? frameworkNamed(body.framework) : frameworkOf(text), text }
}

/** The parameters of the job; those of its circuits become its points. */
function readParams({ params, circuits }: SubmitBody, text: string): ParsedParams {
  const shared = paramsFromBody(params, text)
  if (circuits) return readPointsOf(circuits, text, shared)
  assertPoints(params)
  return shared
}

function asCode(payload: string): string {
  const length = payload.length > INLINE_CODE_MAX ? [...payload].length : 0
  if (length > INLINE_CODE_MAX)
    throw validationError(
      `circuit.payload: a program in Braket's dialect has at most ${INLINE_CODE_MAX} characters (got ${length})`
    )
  return payload
}

const readAnalysis = ({ analysis_id: id, warn_check_ids: consents = [] }: SubmitBody): SavedScript['analysis'] =>
  id ? { id, consents } : null

function frameworkOf(code: string): Framework | 'auto' {
  const framework = detectFramework(code)
  if (framework) return framework
  throw validationError(
    'framework: could not be detected, because the code imports no known framework; ' +
      `send one of ${frameworkNames.join(', ')}, or import the framework you use`
  )
}

/**
 * What to choose a backend by; `null` where the caller names one.
 * @param prefix of the names of the wishes.
 * @throws ServiceError `validation_error` for wishes without `auto`.
 */
export function readWishes(
  backend: string,
  given: Static<typeof Choose> | undefined,
  prefix: 'choose.' | ''
): Wishes | null {
  if (backend !== AUTO_BACKEND) {
    const fields = prefix === '' ? Object.keys(given ?? {}) : given === undefined ? [] : ['choose']
    if (fields.length === 0) return null
    throw validationError(`${fields.join(', ')}: for backend "auto" only (got ${JSON.stringify(backend)})`)
  }
  return {
    maxCost: readUsd(given?.max_cost_usd, `${prefix}max_cost_usd`),
    maxWaitSeconds: given?.max_wait_seconds ?? null,
    minQubits: given?.min_qubits ?? null,
    hardware: given?.hardware ?? null
  }
}

/** @throws ServiceError `validation_error` naming the field. */
export function readUsd(usd: number | undefined, field: string): MicroUsd | null {
  if (usd === undefined) return null
  const micro = microFromUsd(usd)
  if (micro === null) throw validationError(`${field}: must be a number of USD with at most 6 decimals (got ${usd})`)
  return micro
}

// A time in the past means "start now". It must not reach the budget: a reservation counts against the day of the
// start, and the budget of a past day is never checked.
function readNotBefore(text: string | undefined, now: Date): Date | null {
  if (text === undefined) return null
  const at = new Date(text)
  if (Number.isNaN(at.getTime()))
    throw validationError(`not_before: must be an ISO 8601 time (got ${JSON.stringify(text)})`)
  if (at.getTime() > now.getTime() + NOT_BEFORE_DAYS_MAX * 86_400_000)
    throw validationError(`not_before: must be at most ${NOT_BEFORE_DAYS_MAX} days ahead (got ${text})`)
  return at > now ? at : null
}
