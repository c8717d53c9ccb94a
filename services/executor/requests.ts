// The requests to the execution service, as it reads them (apps/executor/qjs_executor/protocol/). Field names are the
// wire's.
import type { Framework } from '../../domain/jobs/framework.js'
import type { ProgrammingModel } from '../../domain/jobs/native/native-submission.js'
import { type CircuitFormat, payloadsOf, type SourceKind } from '../../domain/jobs/source.js'
import type { JsonText } from '../../domain/json/json-text.js'

export type ProgramSource = { kind: 'code'; framework: string; code: string } | CircuitSource

export interface CircuitSource {
  kind: 'circuit'
  format: CircuitFormat
  payload: string
}

/** Who waits for the response: the service takes turns between them. */
export interface Turns {
  user: string
  team: string
}

/** The team of a job: slots and the places of waiting runs are shared between teams. The service only compares it. */
export type JobTurns = Pick<Turns, 'team'>

/** What names the work in the log of the executor; it does nothing else with `request_id`. */
interface Named {
  /** Begins with the id of its job, if it has one. */
  run_id: string
  /** The request of a client that it belongs to. */
  request_id?: string
}

/** POST /run */
export interface RunRequest extends Named {
  source: ProgramSource
  backend: string
  engine: string
  max_qubits: number | null
  /** An object, or `JsonText` of one. */
  params: unknown
  limits: { wall_seconds: number }
  /** Where the files of the result can be read later; the result then gives their addresses. */
  files_url?: string
  /** `ask`: the executor returns a script's request for this kind of work instead of doing the work in its process. */
  graphs?: 'ask'
  circuits?: 'ask'
  /** Makes two executions of a script alike: the start of its randomness and of its clock (seconds since 1970). */
  script?: { seed: number; now: number }
  /** For a native submission: the function to call and its arguments; `input` is JSON text. */
  entry?: { model: ProgrammingModel; entrypoint: string; input: string }
  /** Responses to the script's requests so far, in order; for a resumed execution, the one that it waits for. */
  answers?: ScriptResponse[]
  /** Continues an execution that waits for a response. */
  resume?: { run_id: string }
  /** One task of a graph; the source is only quoted in its errors. */
  task?: { name: string; function: string; arguments: string; values: Record<string, string> }
  /** The job of `task`: tasks of one job can follow each other in one confinement. */
  task_of?: string
  /** Turns what the workflow returns into the result of the job. */
  finish?: { name: string; output: string; values: Record<string, string> }
  /** The different numbers of shots with which the tasks ran circuits, at most two. */
  task_shots?: number[]
  /** JSON text, part of the result. */
  workflow_metadata?: string
  /** A user waits for the response: served before jobs. */
  lane?: 'interactive'
  keys?: Turns | JobTurns
}

/** One run of a sweep: its parameters, in place of those of the request; and its circuit, where each has its own. */
export interface RequestedPoint {
  params: JsonText
  circuit?: Omit<CircuitSource, 'kind'>
}

/** POST /run for the points of a sweep, in order. */
export type PointsRequest = RunRequest & { points: JsonText }

/** POST /reservations: a slot for a request that follows within some seconds. */
export interface ReservationRequest {
  keys: JobTurns
  engine?: string
  /** The parked execution that the slot is for. */
  resume?: string
  /** How long it waits for the slot, at most 10. */
  wait_seconds: number
}

/** What a script receives for one of its requests: values of tasks, counts of a circuit, or an error. */
export type ScriptResponse = { digest: string } & (
  | { values: Record<string, string>; metadata: string | null }
  | { counts: string; count_source?: string; provider_job_id?: string }
  | { error: string }
)

/** POST /convert */
export interface ConvertRequest extends Named {
  source: { kind: 'code'; framework: Framework; code: string }
  keys: Turns
}

/** POST /analyse */
export interface AnalyseRequest extends Named {
  code: string
  requirements: string | null
  keys: Turns
}

/** POST /compile */
export interface CompileRequest extends Named {
  source: ProgramSource
  backend: string
  max_qubits: number
  params: unknown
  target: { format: string; num_qubits: number | null }
  limits: { wall_seconds: number }
  keys: JobTurns
}

/** A job's source in the form that the executor reads. Of many circuits it is the first: each point has its own. */
export const sourceOf = (job: {
  sourceKind: SourceKind
  sourceFormat: CircuitFormat | null
  sourceText: string
  framework: string
}): ProgramSource =>
  job.sourceKind === 'circuit' || job.sourceKind === 'circuits'
    ? {
        kind: 'circuit',
        format: job.sourceFormat ?? 'qasm3',
        payload: job.sourceKind === 'circuit' ? job.sourceText : payloadsOf(job.sourceText)[0]!
      }
    : { kind: 'code', framework: job.framework, code: job.sourceText }
