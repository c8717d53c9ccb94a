// Talks to the execution service: one request per run, answered by a stream of lines (executor-stream.ts). Nothing here
// decides what an outcome means for a job.
import { Agent, request } from 'undici'
import type { ExecutorHealth } from '../../domain/backends/executor-health.js'
import type { JobError } from '../../domain/errors.js'
import type { Framework } from '../../domain/jobs/framework.js'
import type { ProgrammingModel } from '../../domain/jobs/native-submission.js'
import { jsonWithTexts } from '../../domain/json/json-text.js'
import { connectionFault, type Refusal, type RunEnd, readFault, readRun, type ScriptEnd } from './stream.js'

export interface RunRequest {
  run_id: string
  source:
    | { kind: 'code'; framework: string; code: string }
    | { kind: 'circuit'; format: 'qasm2' | 'qasm3'; payload: string }
  backend: string
  engine: string
  max_qubits: number | null
  /** An object, or `JsonText` of one. */
  params: unknown
  limits: { wall_seconds: number }
  /** `ask`: what the script asks of the service while it runs is told to the caller, not done in its process. */
  graphs?: 'ask'
  circuits?: 'ask'
  /** What makes two runs of a script alike: where its randomness and its clock begin (seconds since 1970). */
  script?: { seed: number; now: number }
  /** Of a native submission: what is called with what; `input` is JSON text. */
  entry?: { model: ProgrammingModel; entrypoint: string; input: string }
  /** What was asked before and its answers, in order; of a run that is resumed the one that it waits for. */
  answers?: ScriptResponse[]
  /** Goes on with a run that waits for an answer. */
  resume?: { run_id: string }
  /** One task of a graph; the source serves the lines in its errors alone. */
  task?: { name: string; function: string; arguments: string; values: Record<string, string> }
  /** The job of `task`: tasks of one job may follow each other in one confinement over there. */
  task_of?: string
  /** Makes a job's result of what its workflow returns. */
  finish?: { name: string; output: string; values: Record<string, string> }
  /** JSON text, part of the result. */
  workflow_metadata?: string
  /** Somebody waits for the answer: served before jobs, and in turn by `keys`. */
  lane?: 'interactive'
  keys?: { user: string; team: string }
}

export type ScriptResponse = { digest: string } & (
  | { values: Record<string, string>; metadata: string | null }
  | { counts: string; count_source?: string; provider_job_id?: string }
  | { error: string }
)

/** A job's source as the executor takes it. */
export const sourceOf = (job: {
  sourceKind: 'inline' | 'script' | 'circuit'
  sourceFormat: 'qasm2' | 'qasm3' | null
  sourceText: string
  framework: string
}): RunRequest['source'] =>
  job.sourceKind === 'circuit'
    ? { kind: 'circuit', format: job.sourceFormat ?? 'qasm3', payload: job.sourceText }
    : { kind: 'code', framework: job.framework, code: job.sourceText }

export interface ConvertRequest {
  source: { kind: 'code'; framework: Framework; code: string }
  keys: { user: string; team: string }
}

export interface AnalyseRequest {
  code: string
  requirements: string | null
  keys: { user: string; team: string }
}

export interface CompileRequest {
  source: RunRequest['source']
  backend: string
  max_qubits: number
  params: unknown
  target: { format: string; num_qubits: number | null }
  limits: { wall_seconds: number }
}

/** `answer` is JSON text as docs/operations/executor.md describes it for the path, never parsed here. */
export type QuestionEnd =
  | { kind: 'completed'; answer: string }
  | { kind: 'failed'; error: JobError }
  | Exclude<Refusal, { kind: 'refused' }>

/** `script`: what was to be compiled leaves no circuit; it is for running. */
export type CompileEnd = QuestionEnd | { kind: 'script' }

export interface ExecutorClient {
  /** @param accepted is awaited as soon as the run has begun; when it answers `false` the run is ended as lost. */
  run(run: RunRequest, signal: AbortSignal, accepted: () => Promise<boolean>): Promise<RunEnd>
  /** `run` of what may ask, or goes on after its answer. */
  runScript(run: RunRequest, signal: AbortSignal, accepted: () => Promise<boolean>): Promise<ScriptEnd>
  /** A run for somebody who waits; when `signal` aborts it is ended over there too, and this rejects. */
  runInteractive(
    run: Omit<RunRequest, 'lane' | 'keys'> & Required<Pick<RunRequest, 'keys'>>,
    signal: AbortSignal
  ): Promise<RunEnd>
  /** The circuit that a program builds, as OpenQASM. Rejects when `signal` aborts. */
  convert(source: ConvertRequest, signal: AbortSignal): Promise<QuestionEnd>
  /** What a script is, read without running it. Rejects when `signal` aborts. */
  analyse(script: AnalyseRequest, signal: AbortSignal): Promise<QuestionEnd>
  /** A source in a provider's own form, in the lane of jobs. Rejects when `signal` aborts. */
  compile(request: CompileRequest, signal: AbortSignal): Promise<CompileEnd>
  health(timeoutMs?: number): Promise<ExecutorHealth>
  close(): Promise<void>
}

// A child that takes longer than this to start is as good as none.
const ACCEPT_TIMEOUT_MS = 30_000

export function createExecutorClient(url: string, token: string): ExecutorClient {
  // The defaults of undici end a quiet response after 5 minutes; our own deadlines apply instead.
  const agent = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeout: 5_000,
    keepAliveTimeout: 10_000,
    connections: 256
  })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const post = (path: string, body: object, signal: AbortSignal) =>
    request(`${url}${path}`, { method: 'POST', headers, body: jsonWithTexts(body), dispatcher: agent, signal })

  async function runScript(
    body: RunRequest,
    signal: AbortSignal,
    accepted: () => Promise<boolean>
  ): Promise<ScriptEnd> {
    const hangUp = new AbortController()
    const stop = AbortSignal.any([signal, hangUp.signal])
    try {
      const headersDue = setTimeout(() => hangUp.abort(), ACCEPT_TIMEOUT_MS)
      const response = await post('/run', body, stop).finally(() => clearTimeout(headersDue))
      if (response.statusCode !== 200) {
        const text = await response.body.text()
        const fault = errorOf(text)
        if (fault?.code === 'not_parked') return { kind: 'not_parked', message: fault.message }
        return refusal(response.statusCode, text, response.headers['retry-after'])
      }
      const end = await readRun(response.body, accepted, () => hangUp.abort())
      // A run that we gave up ourselves is not one that the service lost.
      if (end.kind === 'lost' || end.kind === 'away') signal.throwIfAborted()
      return end
    } catch (error) {
      signal.throwIfAborted()
      return { kind: 'away', message: connectionFault(error) }
    } finally {
      // Ends the run over there too when we leave early.
      hangUp.abort()
    }
  }

  async function asked(path: string, body: object, signal: AbortSignal): Promise<CompileEnd> {
    try {
      const response = await post(path, body, signal)
      const text = await response.body.text()
      if (response.statusCode === 200) return { kind: 'completed', answer: text }
      if (errorOf(text)?.code === 'no_circuit') return { kind: 'script' }
      const refused = refusal(response.statusCode, text, response.headers['retry-after'])
      return refused.kind === 'refused' ? { kind: 'failed', error: readFault(errorOf(text) ?? refused) } : refused
    } catch (error) {
      signal.throwIfAborted()
      return { kind: 'away', message: connectionFault(error) }
    }
  }

  // What asks nothing ends as a plain run does.
  const run = runScript as ExecutorClient['run']
  // Only what is compiled may leave no circuit.
  const question = asked as (...args: Parameters<typeof asked>) => Promise<QuestionEnd>

  return {
    run,
    runScript,
    runInteractive: (body, signal) => run({ ...body, lane: 'interactive' }, signal, async () => true),
    convert: (body, signal) => question('/convert', body, signal),
    analyse: (body, signal) => question('/analyse', body, signal),
    compile: (body, signal) => asked('/compile', { ...body, lane: 'jobs' }, signal),
    async health(timeoutMs = 2_000) {
      const response = await request(`${url}/health`, {
        headers,
        dispatcher: agent,
        signal: AbortSignal.timeout(timeoutMs)
      })
      if (response.statusCode !== 200) throw new Error(`execution service answered ${response.statusCode} to /health`)
      return (await response.body.json()) as ExecutorHealth
    },
    close: () => agent.destroy()
  }
}

function refusal(status: number, text: string, retryAfter: string | string[] | undefined): Refusal {
  const { message, code } = errorOf(text) ?? { message: `execution service answered ${status}` }
  const full = status === 429 || (status === 503 && (code === undefined || code === 'busy'))
  if (full) return { kind: 'busy', retryAfterSeconds: readSeconds(retryAfter) }
  if (code === 'worker_not_configured') return { kind: 'away', message, unfit: true }
  // A wrong token or a proxy's error is mended by an operator, not by failing jobs.
  if (status === 401 || status === 404 || status >= 500) return { kind: 'away', message }
  return { kind: 'refused', message }
}

function readSeconds(header: string | string[] | undefined): number {
  return typeof header === 'string' && /^[1-9]\d{0,3}$/.test(header) ? Number(header) : 1
}

interface ErrorBody {
  code?: unknown
  message: string
  line?: unknown
}

function errorOf(text: string): ErrorBody | null {
  try {
    const { error } = JSON.parse(text) as { error?: Omit<ErrorBody, 'message'> & { message?: unknown } }
    return typeof error?.message === 'string' ? { ...error, message: error.message } : null
  } catch {
    return null
  }
}
