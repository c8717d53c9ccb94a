// Talks to the execution service: one request per run, answered by a stream of lines (accepted, beats, outcome). Nothing
// here decides what an outcome means for a job.
import { Agent, request } from 'undici'
import type { JobError } from '../domain/errors.js'
import { isErrorCode } from '../domain/errors.js'

export interface RunRequest {
  run_id: string
  source:
    | { kind: 'code'; framework: string; code: string }
    | { kind: 'circuit'; format: 'qasm2' | 'qasm3'; payload: string }
  backend: string
  engine: string
  max_qubits: number | null
  params: unknown
  limits: { wall_seconds: number }
}

/**
 * `busy` and `away` come before acceptance and cost nothing; `refused` is an answer that a repetition will not change;
 * `lost` is a run that was accepted and whose end nobody saw. `result` is JSON text, never parsed here: it may hold
 * integers that a JavaScript number would round.
 */
export type RunEnd =
  | { kind: 'completed'; result: string }
  | { kind: 'failed'; error: JobError }
  | { kind: 'lost'; message: string }
  | { kind: 'busy' }
  | { kind: 'away'; message: string }
  | { kind: 'refused'; message: string }

export interface ExecutorHealth {
  slots: { total: number; running: number }
  engines: { name: string; version: string }[]
}

export interface ExecutorClient {
  /** @param accepted is awaited as soon as the run has begun; when it answers `false` the run is ended as lost. */
  run(run: RunRequest, signal: AbortSignal, accepted: () => Promise<boolean>): Promise<RunEnd>
  health(timeoutMs?: number): Promise<ExecutorHealth>
  close(): Promise<void>
}

// A child that takes longer than this to start is as good as none.
const ACCEPT_TIMEOUT_MS = 30_000
// The service beats every 5 s while a run lasts; after four missed beats it is gone.
const SILENCE_TIMEOUT_MS = 20_000
// A result is at most 16 MiB; as an escaped JSON string it may double, beyond that somebody is not playing by the rules.
const LINE_MAX = 40 * 1024 * 1024

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

  async function run(body: RunRequest, signal: AbortSignal, accepted: () => Promise<boolean>): Promise<RunEnd> {
    const hangUp = new AbortController()
    const stop = AbortSignal.any([signal, hangUp.signal])
    try {
      const headersDue = setTimeout(() => hangUp.abort(), ACCEPT_TIMEOUT_MS)
      const response = await request(`${url}/run`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        dispatcher: agent,
        signal: stop
      }).finally(() => clearTimeout(headersDue))
      if (response.statusCode !== 200) return await refusal(response.statusCode, await response.body.text())
      const end = await readRun(response.body, accepted, () => hangUp.abort())
      // A run that we gave up ourselves is not one that the service lost.
      if (end.kind === 'lost' || end.kind === 'away') signal.throwIfAborted()
      return end
    } catch (error) {
      signal.throwIfAborted()
      return { kind: 'away', message: reasonOf(error) }
    } finally {
      // Ends the run over there too when we leave early.
      hangUp.abort()
    }
  }

  return {
    run,
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

async function refusal(status: number, text: string): Promise<RunEnd> {
  const message = errorMessage(text) ?? `execution service answered ${status}`
  if (status === 503) return { kind: 'busy' }
  // A wrong token or a proxy's error is mended by an operator, not by failing jobs.
  if (status === 401 || status === 404 || status >= 500) return { kind: 'away', message }
  return { kind: 'refused', message }
}

async function readRun(
  body: AsyncIterable<Buffer>,
  accepted: () => Promise<boolean>,
  abort: () => void
): Promise<RunEnd> {
  let wasAccepted = false
  try {
    for await (const line of linesOf(body, abort)) {
      if (line.accepted !== undefined) {
        wasAccepted = true
        if (!(await accepted())) return { kind: 'lost', message: 'the job was taken from this worker' }
      } else if (line.outcome !== undefined) return readOutcome(line.outcome)
    }
  } catch (error) {
    if (!wasAccepted) return { kind: 'away', message: reasonOf(error) }
    return { kind: 'lost', message: `the execution service went away during the run (${reasonOf(error)})` }
  }
  return wasAccepted
    ? { kind: 'lost', message: 'the execution service closed the stream without an outcome' }
    : { kind: 'away', message: 'the execution service closed the stream before it accepted the run' }
}

interface Line {
  accepted?: unknown
  outcome?: { status?: unknown; result?: unknown; error?: { code?: unknown; message?: unknown; line?: unknown } }
}

async function* linesOf(body: AsyncIterable<Buffer>, abort: () => void): AsyncGenerator<Line> {
  let parts: Buffer[] = []
  let size = 0
  let silence = setTimeout(abort, SILENCE_TIMEOUT_MS)
  try {
    for await (const chunk of body) {
      clearTimeout(silence)
      silence = setTimeout(abort, SILENCE_TIMEOUT_MS)
      let rest = chunk
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        parts.push(rest.subarray(0, end))
        yield JSON.parse(Buffer.concat(parts).toString('utf8')) as Line
        parts = []
        size = 0
        rest = rest.subarray(end + 1)
      }
      parts.push(rest)
      size += rest.length
      if (size > LINE_MAX) throw new Error('a line of the execution service is too long')
    }
  } finally {
    clearTimeout(silence)
  }
}

function readOutcome(outcome: NonNullable<Line['outcome']>): RunEnd {
  const message = reasonWithLine(outcome.error ?? {})
  if (outcome.status === 'completed' && typeof outcome.result === 'string')
    return { kind: 'completed', result: outcome.result }
  if (outcome.status === 'failed') {
    const code = outcome.error?.code
    return { kind: 'failed', error: { code: isErrorCode(code) ? code : 'execution_error', message } }
  }
  return { kind: 'lost', message }
}

/** A job's error has one text; where in the code it happened belongs into it. */
function reasonWithLine({ message, line }: { message?: unknown; line?: unknown }): string {
  if (typeof message !== 'string') return 'no reason was given'
  return typeof line === 'number' && !/\bline \d/.test(message) ? `line ${line}: ${message}` : message
}

function errorMessage(text: string): string | null {
  try {
    const message = (JSON.parse(text) as { error?: { message?: unknown } }).error?.message
    return typeof message === 'string' ? message : null
  } catch {
    return null
  }
}

const reasonOf = (error: unknown): string => {
  const { code, message } = error as { code?: string; message?: string }
  return code ?? message ?? String(error)
}
