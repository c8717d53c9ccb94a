// What is asked of the execution service for a job, its script or one of its tasks, and how a run that waited for an answer
// goes on.
import { createHash, randomBytes } from 'node:crypto'
import type { JobRun } from '../../db/jobs/jobs.js'
import { JsonText } from '../../domain/json/json-text.js'
import { type RunRequest, type ScriptResponse, sourceOf } from '../../services/executor/requests.js'
import type { ScriptEnd } from '../../services/executor/stream.js'
import type { Waited } from '../../services/executor/wait.js'

/** What every run of a job has alike. `engine`: on a backend that has none it is not used. */
export const requestOf = (job: JobRun, runId: string, wallSeconds: number): RunRequest => ({
  run_id: runId,
  source: sourceOf(job),
  backend: job.backend,
  engine: job.engine ?? 'statevector',
  max_qubits: job.maxQubits,
  params: new JsonText(job.params),
  limits: { wall_seconds: wallSeconds }
})

/** Ids of runs are the executor's own: a run that is still being ended there is never taken for the one that follows. */
export const newRunId = (jobId: string): string => `${jobId}.${randomBytes(6).toString('hex')}`

/**
 * Where the randomness and the clock of a run begin that may have to be repeated. The seed is the same for the same names:
 * 52 bits, which every JSON reader takes.
 */
export const repeatable = (job: JobRun, ...of: string[]): NonNullable<RunRequest['script']> => ({
  seed: Number.parseInt(createHash('sha256').update(of.join('/')).digest('hex').slice(0, 13), 16),
  now: job.startedAt!.getTime() / 1000
})

/** How a run ended, and under which id it did: it may wait there for the next answer. */
export interface RunEnded {
  end: Waited<ScriptEnd>
  runId: string
}

/**
 * Wakes the run that waits for the last answer; where there is none any more, repeats it from its start with all of them.
 * @param asks all so far, each with its answer; the earlier ones are read only to repeat the run.
 */
export async function resumeOrReplay<ScriptRequest extends { parkedAs: string | null }>(
  request: RunRequest,
  asks: ScriptRequest[],
  answerOf: (ask: ScriptRequest) => Promise<ScriptResponse>,
  run: (request: RunRequest) => Promise<Waited<ScriptEnd>>
): Promise<RunEnded> {
  const last = asks.at(-1)
  if (!last) return { end: await run(request), runId: request.run_id }
  const { parkedAs } = last
  if (parkedAs) {
    const resumed = { ...request, run_id: parkedAs, resume: { run_id: parkedAs }, answers: [await answerOf(last)] }
    const end = await run(resumed)
    if (end.kind !== 'not_parked') return { end, runId: parkedAs }
  }
  return { end: await run({ ...request, answers: await Promise.all(asks.map(answerOf)) }), runId: request.run_id }
}
