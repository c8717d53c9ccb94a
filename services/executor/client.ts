// The client of the execution service: one request per execution, whose response is a stream of lines (stream.ts). The
// caller decides what an outcome means for a job.
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'undici'
import { EXECUTOR_PROTOCOL, type ExecutorHealth } from '../../domain/backends/executor-health.js'
import type { JobError } from '../../domain/errors.js'
import { jsonWithTexts } from '../../domain/json/json-text.js'
import { apartTexts } from './apart-texts.js'
import type {
  AnalyseRequest,
  CompileRequest,
  ConvertRequest,
  PointsRequest,
  ReservationRequest,
  RunRequest
} from './requests.js'
import {
  type Away,
  connectionFault,
  type OnPrinted,
  type PointsEnd,
  type Refusal,
  type RunEnd,
  readFault,
  readRun,
  type ScriptEnd
} from './stream.js'

/** `answer` is JSON text as docs/operations/executor.md describes it for the path; it is not parsed here. */
export type QuestionEnd =
  | { kind: 'completed'; answer: string }
  | { kind: 'failed'; error: JobError }
  | Exclude<Refusal, { kind: 'refused' }>

/** `script`: the source builds no circuit that could be compiled; it has to be executed. */
export type CompileEnd = QuestionEnd | { kind: 'script' }

/** A slot that waits some seconds for its call. */
export interface Reserved {
  kind: 'reserved'
  /** Its next call uses the slot. */
  executor: ExecutorClient
  /** Gives back a slot that no call has used. */
  release(): void
}

export interface ExecutorClient {
  /**
   * @param accepted is awaited when the execution has started; if it returns `false`, the execution is stopped as lost.
   * @param printed gets what the program prints while it runs.
   */
  run(run: RunRequest, signal: AbortSignal, accepted: () => Promise<boolean>, printed?: OnPrinted): Promise<RunEnd>
  /** Executes the first of the points of a sweep: as many as fit in some seconds. */
  runPoints(
    run: PointsRequest,
    signal: AbortSignal,
    accepted: () => Promise<boolean>,
    printed?: OnPrinted
  ): Promise<PointsEnd>
  /** Executes a script that can request work, or continues it after a response. */
  runScript(
    run: RunRequest,
    signal: AbortSignal,
    accepted: () => Promise<boolean>,
    printed?: OnPrinted
  ): Promise<ScriptEnd>
  /** Executes a program for a waiting user; when `signal` aborts, the executor stops it too, and this rejects. */
  runInteractive(
    run: Omit<RunRequest, 'lane' | 'keys'> & Required<Pick<RunRequest, 'keys'>>,
    signal: AbortSignal
  ): Promise<RunEnd>
  /** The circuit that a program builds, as OpenQASM. Rejects when `signal` aborts. */
  convert(source: ConvertRequest, signal: AbortSignal): Promise<QuestionEnd>
  /** Analyses a script without executing it. Rejects when `signal` aborts. */
  analyse(script: AnalyseRequest, signal: AbortSignal): Promise<QuestionEnd>
  /** Compiles a source to a provider's own form, with the priority of a job. Rejects when `signal` aborts. */
  compile(request: CompileRequest, signal: AbortSignal): Promise<CompileEnd>
  /**
   * Reserves a slot for one call, before its body is built and sent: waits for it at the executor, in turn with the calls of
   * other workers. Rejects when `signal` aborts.
   */
  reserve(wanted: ReservationRequest, signal: AbortSignal): Promise<Reserved | Refusal>
  health(timeoutMs?: number): Promise<ExecutorHealth>
  close(): Promise<void>
}

/** A slot is reserved within its `wait_seconds`; without a response this much later, the executor is away. */
const RESERVE_LATE_MS = 10_000
// A child that has not started by then never will.
const ACCEPT_TIMEOUT_MS = 30_000

export function createExecutorClient(url: string, token: string): ExecutorClient {
  // By default, undici ends a response that is silent for 5 minutes; the deadlines here apply instead.
  const agent = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeout: 5_000,
    keepAliveTimeout: 10_000,
    connections: 256
  })
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'x-executor-protocol': String(EXECUTOR_PROTOCOL),
    ...apartTexts
  }
  const calls = callsTo(url, headers, agent)

  async function reserve(wanted: ReservationRequest, signal: AbortSignal): Promise<Reserved | Refusal> {
    // Named here: a reservation whose grant crosses the end of its caller can be given back as well.
    const named = randomUUID()
    // Where this fails, the slot is free after some seconds.
    const giveBack = (id: string) =>
      void request(`${url}/reservations/${id}`, { method: 'DELETE', headers, dispatcher: agent }).then(
        ({ body }) => body.dump(),
        () => {}
      )
    try {
      const late = AbortSignal.timeout(wanted.wait_seconds * 1_000 + RESERVE_LATE_MS)
      const response = await request(`${url}/reservations`, {
        method: 'POST',
        headers: { ...headers, 'x-reservation': named },
        body: JSON.stringify(wanted),
        dispatcher: agent,
        signal: AbortSignal.any([signal, late])
      })
      const text = await response.body.text()
      if (response.statusCode !== 200) return refusal(response.statusCode, text, response.headers['retry-after'])
      // An executor of an earlier release has a name of its own for it.
      const { id } = JSON.parse(text) as { id: string }
      let isUsed = false
      const withId = () => {
        if (isUsed) return headers
        isUsed = true
        return { ...headers, 'x-reservation': id }
      }
      return {
        kind: 'reserved',
        executor: { ...client, ...callsTo(url, withId, agent, () => giveBack(id)) },
        release() {
          if (isUsed) return
          isUsed = true
          giveBack(id)
        }
      }
    } catch (error) {
      giveBack(named)
      signal.throwIfAborted()
      return { kind: 'away', message: connectionFault(error) }
    }
  }

  const client: ExecutorClient = {
    ...calls,
    reserve,
    async health(timeoutMs = 2_000) {
      const response = await request(`${url}/health`, {
        headers,
        dispatcher: agent,
        signal: AbortSignal.timeout(timeoutMs)
      })
      if (response.statusCode !== 200) throw new Error(`execution service returned ${response.statusCode} for /health`)
      return (await response.body.json()) as ExecutorHealth
    },
    close: () => agent.destroy()
  }
  return client
}

type Headers = Record<string, string>
type Calls = Omit<ExecutorClient, 'reserve' | 'health' | 'close'>

/**
 * @param headersOf of each call.
 * @param unanswered is called after a request without a response, which may not have arrived.
 */
function callsTo(
  url: string,
  headersOf: Headers | (() => Headers),
  agent: Agent,
  unanswered: () => void = () => {}
): Calls {
  const post = (path: string, body: object, signal: AbortSignal) => {
    const headers = typeof headersOf === 'function' ? headersOf() : headersOf
    const sent = { method: 'POST', headers, body: jsonWithTexts(body), dispatcher: agent, signal } as const
    return request(`${url}${path}`, sent).catch((error: unknown) => {
      unanswered()
      throw error
    })
  }

  async function execute(
    body: RunRequest,
    signal: AbortSignal,
    accepted: () => Promise<boolean>,
    printed?: OnPrinted
  ): Promise<ScriptEnd | PointsEnd> {
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
      const end = await readRun(response.body, accepted, () => hangUp.abort(), printed)
      // An execution that this side gave up is not one that the service lost.
      if (end.kind === 'lost' || end.kind === 'away') signal.throwIfAborted()
      return end
    } catch (error) {
      signal.throwIfAborted()
      return { kind: 'away', message: connectionFault(error) }
    } finally {
      // Stops the execution in the executor too when this returns early.
      hangUp.abort()
    }
  }

  async function ask(path: string, body: object, signal: AbortSignal): Promise<CompileEnd> {
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

  // What a request asks for decides which outcomes it can have.
  const run = execute as ExecutorClient['run']
  const runPoints = execute as ExecutorClient['runPoints']
  const runScript = execute as ExecutorClient['runScript']
  // Only /compile can find that there is no circuit.
  const question = ask as (...args: Parameters<typeof ask>) => Promise<QuestionEnd>

  return {
    run,
    runPoints,
    runScript,
    runInteractive: (body, signal) => run({ ...body, lane: 'interactive' }, signal, async () => true),
    convert: (body, signal) => question('/convert', body, signal),
    analyse: (body, signal) => question('/analyse', body, signal),
    compile: (body, signal) => ask('/compile', { ...body, lane: 'jobs' }, signal)
  }
}

const whyByCode = new Map<string, NonNullable<Away['why']>>([
  ['worker_not_configured', 'unfit'],
  ['execution_service_lost', 'fault'],
  ['draining', 'draining'],
  ['engine_missing', 'engine'],
  ['protocol_mismatch', 'protocol']
])

function refusal(status: number, text: string, retryAfter: string | string[] | undefined): Refusal {
  const { message, code } = errorOf(text) ?? { message: `execution service returned ${status}` }
  const full = status === 429 || (status === 503 && (code === undefined || code === 'busy'))
  if (full) return { kind: 'busy', retryAfterSeconds: readSeconds(retryAfter) }
  if (typeof code === 'string' && whyByCode.has(code)) return { kind: 'away', message, why: whyByCode.get(code)! }
  // A proxy whose executor is gone returns 502 to 504 without a code of ours. These come from the executor itself.
  if (status === 500) return { kind: 'away', message, why: 'fault' }
  // A wrong token or an error of a proxy is for an operator to fix; jobs must not fail because of it.
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
