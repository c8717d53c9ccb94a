// The ordinary team: submits one Bell job after the other, waits for its result and reads it, and measures the time from
// the submission to the result.
import { setTimeout as delay } from 'node:timers/promises'
import { isFinal, type JobStatus } from '../../domain/jobs/job-status.js'
import type { Account } from './accounts.js'
import { fieldsOf, type Method, type Reply, send } from './client.js'

/** The shortest time between two submissions. */
export const EVERY_MS = 700
/** One job of so many is a workflow. */
const TEMPORAL_EVERY = 6
const REQUEST_LIMIT_MS = 30_000
const TRY_AGAIN_MS = 500
const SHOTS = 100

export const bell =
  'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q;\nbit[2] c;\nh q[0];\ncx q[0], q[1];\nc = measure q;\n'

export interface Measured {
  id: string | null
  mode: 'direct' | 'temporal'
  /** Milliseconds of `performance.now()`. */
  beganAt: number
  /** `null` while it runs. */
  endedAt: number | null
  /** What went wrong with the job or one of its requests. */
  failures: string[]
}

export const tookMs = ({ beganAt, endedAt }: Measured): number => (endedAt ?? performance.now()) - beganAt

export interface Neighbour {
  readonly jobs: readonly Measured[]
  /** Gives up the present job, whose measurement counts as unfinished, and begins another. */
  giveUp(): void
  stop(): Promise<void>
}

/** @param accounts taken in turn, so that the team stays below the limits of one: 10 jobs a minute and 100 a day. */
export function startNeighbour(base: string, accounts: readonly Account[]): Neighbour {
  const jobs: Measured[] = []
  const stopping = new AbortController()
  let given = new AbortController()
  const running = (async () => {
    for (let turn = 0; !stopping.signal.aborted; turn++) {
      given = new AbortController()
      const mode = turn % TEMPORAL_EVERY === TEMPORAL_EVERY - 1 ? 'temporal' : 'direct'
      const measured: Measured = { id: null, mode, beganAt: performance.now(), endedAt: null, failures: [] }
      jobs.push(measured)
      const over = AbortSignal.any([given.signal, stopping.signal])
      const job = runJob(base, accounts[turn % accounts.length]!, measured, over)
      await Promise.race([job, aborted(over)])
      const early = EVERY_MS - tookMs(measured)
      if (early > 0) await delay(early, undefined, { signal: stopping.signal }).catch(() => {})
    }
  })()
  return {
    jobs,
    giveUp: () => given.abort(),
    stop: async () => {
      stopping.abort()
      await running
    }
  }
}

async function runJob(base: string, account: Account, measured: Measured, over: AbortSignal): Promise<void> {
  const call = async (method: Method, path: string, expected: number, body?: unknown): Promise<Reply | null> => {
    const headers = { authorization: `Bearer ${account.keys[0]}` }
    const sent = { base, method, path, address: account.address, headers, timeoutMs: REQUEST_LIMIT_MS }
    const reply = await send({ ...sent, ...(body !== undefined && { body }) })
    if (reply.status === expected) return reply
    if (over.aborted) return null
    measured.failures.push(`${method} ${path}: ${reply.status || 'no response'} ${reply.text.slice(0, 200)}`)
    return null
  }
  const submission = {
    circuit: { format: 'qasm3', payload: bell },
    backend: 'local',
    params: { shots: SHOTS },
    team_id: account.teamId,
    execution_mode: measured.mode
  }
  const submitted = await call('POST', '/api/jobs/submit', 201, submission)
  if (!submitted) {
    measured.endedAt = performance.now()
    return
  }
  const id = String(fieldsOf(submitted).job_id)
  measured.id = id
  let status: JobStatus = 'pending'
  while (!isFinal(status)) {
    if (over.aborted) {
      await call('POST', `/api/jobs/${id}/cancel`, 202)
      return
    }
    const reply = await call('GET', `/api/jobs/${id}/status?wait=20`, 200)
    if (reply) status = fieldsOf(reply).status as JobStatus
    else await delay(TRY_AGAIN_MS)
  }
  const record = await call('GET', `/api/jobs/${id}`, 200)
  measured.endedAt = performance.now()
  if (!record) return
  const { result, error } = fieldsOf(record) as { result: { counts?: Record<string, number> } | null; error: unknown }
  if (status !== 'completed') measured.failures.push(`job ${id} is ${status}: ${JSON.stringify(error)}`)
  else if (!isBell(result?.counts ?? {}))
    measured.failures.push(`job ${id} has counts ${JSON.stringify(result?.counts)}`)
}

const isBell = (counts: Record<string, number>): boolean =>
  (counts['00'] ?? 0) + (counts['11'] ?? 0) === SHOTS &&
  Object.keys(counts).every((key) => key === '00' || key === '11')

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
