// What `POST /api/jobs/submit` takes, and the rules between its fields. The schema checks each field alone; `readSubmission`
// checks them together and gives a total value that the rest of the code trusts.
import { type Static, Type } from 'typebox'
import { validationError } from '../errors.js'
import { oneOf } from '../json/one-of.js'
import { type MicroUsd, microFromUsd } from '../money/money.js'
import { detectFramework, type Framework, frameworks } from './framework.js'
import { type ExecutionMode, executionModes } from './job-status.js'
import type { NativeCall } from './native-submission.js'

export const SHOTS_MAX = 100_000
export const INLINE_CODE_MAX = 50_000
export const CIRCUIT_PAYLOAD_MAX = 1_048_576
export const TIMEOUT_SECONDS_MAX = 900
export const TIMEOUT_SECONDS_DEFAULT = 120
const NOT_BEFORE_DAYS_MAX = 30

/** The versions of OpenQASM in which a circuit may be written. */
export const circuitFormats = ['qasm3', 'qasm2'] as const
export type CircuitFormat = (typeof circuitFormats)[number]

/** What a job runs, as `source.kind` of its record gives it: `capsule` for jobs that a capsule run created. */
export const jobSourceKinds = ['inline', 'circuit', 'script', 'capsule'] as const

const Uuid = Type.String({ format: 'uuid' })

export const JobParams = Type.Object(
  {
    shots: Type.Integer({ minimum: 1, maximum: SHOTS_MAX }),
    theta: Type.Optional(Type.Number()),
    graph_size: Type.Optional(Type.Integer({ minimum: 2, maximum: 20 })),
    layers: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
    noise_model: Type.Optional(Type.Object({}, { additionalProperties: true })),
    seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
    optimization_level: Type.Optional(Type.Integer({ minimum: 0, maximum: 3 })),
    extract_state_vector: Type.Optional(Type.Boolean()),
    circuit_count: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 }))
  },
  { additionalProperties: true, description: 'Keys beyond the named ones are handed to the code as they are.' }
)

// Unknown top-level keys are dropped, so that newer clients can talk to this version.
export const SubmitBody = Type.Object({
  script_id: Type.Optional(Uuid),
  script_slug: Type.Optional(Type.String({ pattern: '^[a-z0-9-]{1,200}$' })),
  inline_code: Type.Optional(Type.String({ minLength: 1, maxLength: INLINE_CODE_MAX })),
  circuit: Type.Optional(
    Type.Object({
      format: oneOf(circuitFormats),
      payload: Type.String({ minLength: 1, maxLength: CIRCUIT_PAYLOAD_MAX })
    })
  ),
  framework: Type.Optional(oneOf(frameworks)),
  backend: Type.String({ minLength: 1, maxLength: 100 }),
  params: JobParams,
  create_capsule: Type.Optional(Type.Boolean()),
  capsule_name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  execution_mode: Type.Optional(oneOf(executionModes)),
  team_id: Type.Optional(Uuid),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  labels: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 50 }), { maxItems: 10 })),
  timeout_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: TIMEOUT_SECONDS_MAX })),
  max_cost_usd: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000 })),
  not_before: Type.Optional(Type.String({ format: 'date-time' })),
  notify: Type.Optional(oneOf(['email'])),
  analysis_id: Type.Optional(Type.Union([Type.String({ maxLength: 200 }), Type.Null()])),
  warn_check_ids: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 })),
  sdk_version: Type.Optional(Type.String({ maxLength: 100 }))
})
export type SubmitBody = Static<typeof SubmitBody>

/** Where a job's circuit comes from. `text` is stored beside the job and never leaves Postgres but for the executor. */
export type JobSource =
  | { kind: 'inline'; framework: Framework | 'auto'; text: string }
  | { kind: 'script'; framework: Framework | 'auto'; text: string; scriptId: string; version: number }
  | { kind: 'circuit'; format: CircuitFormat; text: string }

/** A saved script that a submission names; what it is, the database says. */
export interface SavedScript {
  kind: 'saved'
  by: { id: string } | { slug: string }
  /** What the caller takes it to be; `null` says nothing. */
  framework: Framework | null
  /** What the caller was told of it, and to which warnings they agree. */
  analysis: { id: string; consents: readonly string[] } | null
}

export interface Submission<Source = JobSource> {
  source: Source
  backend: string
  params: SubmitBody['params']
  /** The same as JSON text, where a number in it may be larger than a JavaScript number can hold: this is what runs. */
  paramsText?: string
  mode: ExecutionMode
  teamId: string | null
  name: string | null
  labels: string[]
  timeoutSeconds: number
  maxCost: MicroUsd | null
  notBefore: Date | null
  /** Circuits that the code is declared to run, for the estimate. */
  circuitCount: number
  /** How the submitter wants to hear of the end. */
  notify: 'email' | null
  /** Of a native submission: what is called, and with what. */
  native?: NativeCall
  /** A capsule is made of it when it completes; without a name it is called after the job. */
  capsule?: { name: string | null }
}

/**
 * The submission that a schema-valid body asks for.
 * @throws ServiceError `validation_error` for fields that contradict each other.
 */
export function readSubmission(body: SubmitBody, now: Date): Submission<JobSource | SavedScript> {
  const given = (['script_id', 'script_slug', 'inline_code', 'circuit'] as const).filter(
    (key) => body[key] !== undefined
  )
  if (given.length !== 1)
    throw validationError(
      `exactly one of script_id, script_slug, inline_code, circuit is needed (got ${given.length === 0 ? 'none' : given.join(', ')})`
    )
  if (body.capsule_name !== undefined && body.create_capsule !== true)
    throw validationError('capsule_name: needs create_capsule: true')
  const source = readSource(body)
  return {
    source,
    backend: body.backend,
    params: body.params,
    mode: body.execution_mode ?? 'direct',
    teamId: body.team_id ?? null,
    name: body.name ?? null,
    labels: body.labels ?? [],
    timeoutSeconds: body.timeout_seconds ?? TIMEOUT_SECONDS_DEFAULT,
    maxCost: readMaxCost(body.max_cost_usd),
    notBefore: readNotBefore(body.not_before, now),
    circuitCount: body.params.circuit_count ?? 1,
    notify: body.notify ?? null,
    ...(body.create_capsule && { capsule: { name: body.capsule_name ?? null } })
  }
}

/** A source as its job keeps it. `framework` is what the execution service found, where the submission left it open. */
export interface StoredSource {
  kind: 'inline' | 'script' | 'circuit'
  format: CircuitFormat | null
  framework: string
  text: string
  /** Of a saved script: which one, and the version that ran. */
  scriptId: string | null
  version: number | null
  /** Of a native submission, which has always a cap. */
  native: { call: NativeCall; maxCost: MicroUsd } | null
}

/** The submission of a job like an earlier one: the same source, parameters and backend, to start at once. */
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
    params: JSON.parse(job.params) as Submission['params'],
    paramsText: job.params,
    mode: job.mode,
    teamId: job.teamId,
    name: job.name,
    labels: job.labels,
    timeoutSeconds: job.timeoutSeconds,
    maxCost: source.native?.maxCost ?? null,
    notBefore: null,
    circuitCount: job.circuitCount,
    // Whoever runs it again may be somebody else.
    notify: null,
    ...(source.native && { native: source.native.call })
  }
}

function sourceAgain({ kind, format, framework, text, scriptId, version }: StoredSource): JobSource {
  if (kind === 'circuit') return { kind, format: format!, text }
  const program = { framework: framework as Framework | 'auto', text }
  return kind === 'inline' ? { kind, ...program } : { kind, ...program, scriptId: scriptId!, version: version! }
}

function readSource(body: SubmitBody): JobSource | SavedScript {
  const { script_id: id, script_slug: slug } = body
  const by = id !== undefined ? { id } : slug !== undefined ? { slug } : null
  if (by) return { kind: 'saved', by, framework: body.framework ?? null, analysis: readAnalysis(body) }
  if (body.analysis_id)
    throw validationError('analysis_id: an analysis is of a saved script; send script_id or script_slug')
  if (body.circuit) {
    if (body.framework !== undefined && body.framework !== 'openqasm')
      throw validationError(
        `framework: a circuit in ${body.circuit.format} is openqasm (got ${JSON.stringify(body.framework)})`
      )
    return { kind: 'circuit', format: body.circuit.format, text: body.circuit.payload }
  }
  const text = body.inline_code!
  return { kind: 'inline', framework: body.framework ?? frameworkOf(text), text }
}

const readAnalysis = ({ analysis_id: id, warn_check_ids: consents = [] }: SubmitBody): SavedScript['analysis'] =>
  id ? { id, consents } : null

function frameworkOf(code: string): Framework | 'auto' {
  const framework = detectFramework(code)
  if (framework) return framework
  throw validationError(
    'framework: could not be told from the code, which names no framework; ' +
      `send one of ${frameworks.join(', ')}, or import the framework you use`
  )
}

function readMaxCost(usd: number | undefined): MicroUsd | null {
  if (usd === undefined) return null
  const micro = microFromUsd(usd)
  if (micro === null)
    throw validationError(`max_cost_usd: must be a number of USD with at most 6 decimals (got ${usd})`)
  return micro
}

// A time that is over asks for nothing. It must not reach the budget either: a reservation belongs to the day of the
// start, and a day of the past is nobody's limit.
function readNotBefore(text: string | undefined, now: Date): Date | null {
  if (text === undefined) return null
  const at = new Date(text)
  if (Number.isNaN(at.getTime()))
    throw validationError(`not_before: must be an ISO 8601 time (got ${JSON.stringify(text)})`)
  if (at.getTime() > now.getTime() + NOT_BEFORE_DAYS_MAX * 86_400_000)
    throw validationError(`not_before: must be at most ${NOT_BEFORE_DAYS_MAX} days ahead (got ${text})`)
  return at > now ? at : null
}
