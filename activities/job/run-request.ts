// Builds the requests to the execution service for a job, its script or one of its tasks, and continues an execution that
// waits for a response.
import { createHash, randomBytes } from 'node:crypto'
import type { JobRun } from '../../db/jobs/jobs.js'
import { artifactsPath } from '../../domain/jobs/artifacts-path.js'
import { JsonText } from '../../domain/json/json-text.js'
import type { GateCall } from '../../services/executor/gate.js'
import { type RunRequest, type ScriptResponse, sourceOf } from '../../services/executor/requests.js'
import type { ScriptEnd } from '../../services/executor/stream.js'
import type { Waited } from '../../services/executor/wait.js'

/** A backend without an engine ignores it. */
const engineOf = (job: Pick<JobRun, 'engine'>): string => job.engine ?? 'statevector'

/** Whose executions these are, and what they need. */
export const callOf = (job: Pick<JobRun, 'teamId' | 'engine'>, jobId: string): GateCall => ({
  team: job.teamId,
  job: jobId,
  engine: engineOf(job)
})

/** The part that all executions of a job share. */
export const requestOf = (job: JobRun, runId: string, wallSeconds: number): RunRequest => ({
  run_id: runId,
  ...(job.requestId !== null && { request_id: job.requestId }),
  source: sourceOf(job),
  backend: job.backend,
  engine: engineOf(job),
  max_qubits: job.maxQubits,
  params: new JsonText(job.params),
  limits: { wall_seconds: wallSeconds },
  files_url: artifactsPath(job.id),
  keys: { team: job.teamId }
})

/** Each execution has an id of its own, so an execution that is still being stopped is never taken for the next one. */
export const newRunId = (jobId: string): string => `${jobId}.${randomBytes(6).toString('hex')}`

/**
 * The start of the randomness and of the clock of an execution that may be repeated. The same names give the same seed:
 * 52 bits, which every JSON reader accepts.
 */
export const repeatable = (job: JobRun, ...of: string[]): NonNullable<RunRequest['script']> => ({
  seed: Number.parseInt(createHash('sha256').update(of.join('/')).digest('hex').slice(0, 13), 16),
  now: job.startedAt!.getTime() / 1000
})

/** Where an execution that requested work waits for the response. */
export const parkedOf = ({ parked, executor }: Extract<ScriptEnd, { kind: 'asked' }>, runId: string) =>
  parked ? { parkedAs: runId, executor } : { parkedAs: null, executor: null }

/** How an execution ended, and its id: it may wait under that id for the next response. */
export interface RunEnded {
  end: Waited<ScriptEnd>
  runId: string
}

/** The execution that a request continues, and the id of the executor that holds it. */
export type Parked = Pick<GateCall, 'resume' | 'holder'>

/** An execution to request: its texts are loaded when the executor can take it, so they do not wait in memory. */
export interface Prepared {
  runId: string
  build(): Promise<RunRequest>
}

/**
 * Resumes the execution that waits for the last response, at the executor that holds it; if it is gone, repeats it from its
 * start with all responses.
 * @param asks all requests so far, each with its response; the earlier ones are read only to repeat the execution.
 * @param run builds the request once an executor can take it, if possible the one that holds the execution to continue.
 */
export async function resumeOrReplay<ScriptRequest extends { parkedAs: string | null; executor: string | null }>(
  { runId, build }: Prepared,
  asks: ScriptRequest[],
  answerOf: (ask: ScriptRequest) => Promise<ScriptResponse>,
  run: (build: () => Promise<RunRequest>, parked?: Parked) => Promise<Waited<ScriptEnd>>
): Promise<RunEnded> {
  const last = asks.at(-1)
  if (!last) return { end: await run(build), runId }
  const { parkedAs } = last
  if (parkedAs) {
    const end = await run(
      async () => ({
        ...(await build()),
        run_id: parkedAs,
        resume: { run_id: parkedAs },
        answers: [await answerOf(last)]
      }),
      { resume: parkedAs, holder: last.executor }
    )
    if (end.kind !== 'not_parked') return { end, runId: parkedAs }
  }
  const replay = async () => {
    const answers: ScriptResponse[] = []
    for (const ask of asks) answers.push(await answerOf(ask))
    return { ...(await build()), answers }
  }
  return { end: await run(replay), runId }
}
