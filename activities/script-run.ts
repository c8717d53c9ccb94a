// A durable script: what it asks for while it runs, and how it goes on. The rows of its asks (db/job-asks.ts) say where it
// stands, so that this may begin anew at any point: an ask that is open is work for the workflow; once all are answered the
// script goes on in the child that waits for the answer, or from its start with all answers so far.
import { createHash, randomBytes } from 'node:crypto'
import { attemptUnderWay, completeAttempt, openAttempt } from '../db/attempts.js'
import { type Ask, answerAsk, listAsks, openTasks, recordAsk, taskResults } from '../db/job-asks.js'
import { listTasks, type TaskRow } from '../db/job-tasks.js'
import type { Fence } from '../db/job-transition.js'
import { isRunBy, type JobRun } from '../db/jobs.js'
import { type GraphBody, nodeIdOf, taskKey } from '../domain/script-asks.js'
import { workflowMetadata } from '../domain/workflow-metadata.js'
import { type AskAnswer, type RunRequest, sourceOf } from './executor-client.js'
import type { ScriptEnd } from './executor-stream.js'
import { type Waited, whenExecutorCan } from './executor-wait.js'
import { type ExecuteDeps, type Execution, jobAttempt } from './job-attempt.js'
import { managedResult } from './managed-result.js'
import { persistently } from './persistently.js'

/**
 * Whether a job's program may ask for something: any on a backend that the sandbox cannot reach, and elsewhere one that
 * could have a workflow. Of a direct job everything is done in its own process.
 */
export const mayAsk = (job: JobRun): boolean =>
  job.durable &&
  job.sourceKind !== 'circuit' &&
  job.framework !== 'openqasm' &&
  (job.atProvider || (job.engine !== null && (job.programmingModel !== null || /\bmarqov\b/.test(job.sourceText))))

/** Runs a script up to its next ask or its end. `null`: the job is no longer this side's to run. */
export async function runScript(
  deps: ExecuteDeps,
  jobId: string,
  job: JobRun,
  fence: Fence,
  signal: AbortSignal
): Promise<Execution | null> {
  // A write that was not taken was another side's to make, or was made by an earlier try of ours: the rows say which.
  while (await isRunBy(deps.db, jobId, fence)) {
    const asks = await listAsks(deps.db, jobId, '')
    const open = asks.find(({ state }) => state === 'open')
    if (open) {
      const work = await workOf(deps, jobId, fence, open)
      if (work) return work
      continue
    }
    if (asks.at(-1)?.final && job.programmingModel) return completeManaged(deps, jobId, job, fence)
    const opened = () => (asks.length === 0 ? openAttempt(deps.db, jobId, fence) : attemptToGoOn(deps, jobId, fence))
    const attempt = jobAttempt(deps, jobId, job, fence, signal, opened)
    const ask = async (request: RunRequest) =>
      whenExecutorCan<ScriptEnd>(deps, signal, () => deps.executor.runScript(request, signal, attempt.accepted))
    const end = await goOn(deps, jobId, job, asks, ask)
    if (end.kind !== 'asked') return attempt.ended(end, !fence.lease)
    const by = {
      task: '',
      number: asks.length + 1,
      series: 0,
      parkedAs: end.parked ? end.runId : null
    }
    await persistently({ log: deps.log, jobId, signal }, () => recordAsk(deps.db, jobId, fence, by, end.ask))
    deps.announce(jobId)
  }
  return null
}

/** What the workflow has to do about an open ask; `null` when its answer is there already. */
async function workOf(
  deps: ExecuteDeps,
  jobId: string,
  fence: Fence,
  { kind, number }: Ask
): Promise<Execution | null> {
  if (kind === 'circuit') return { outcome: 'circuit', ask: number }
  const { tasks, failed } = await openTasks(deps.db, jobId, number)
  if (failed) return { outcome: 'failed', error: failed }
  if (tasks.length > 0) return { outcome: 'tasks', ask: number }
  await answerAsk(deps.db, jobId, '', number, fence, null)
  return null
}

/** A script that goes on does so within the attempt in which it began to wait. */
const attemptToGoOn = async ({ db }: ExecuteDeps, jobId: string, fence: Fence) =>
  (await attemptUnderWay(db, jobId, fence)) ?? openAttempt(db, jobId, fence)

type Ended = Exclude<Waited<ScriptEnd>, { kind: 'asked' } | { kind: 'not_parked' }>
type Asked = Extract<ScriptEnd, { kind: 'asked' }> & { runId: string }

async function goOn(
  deps: ExecuteDeps,
  jobId: string,
  job: JobRun,
  asks: Ask[],
  run: (request: RunRequest) => Promise<Waited<ScriptEnd>>
): Promise<Ended | Asked> {
  const base = { ...scriptRequest(jobId, job), ...(await metadataOf(deps, jobId, asks)) }
  const last = asks.at(-1)
  if (last?.final) return told(await run({ ...base, ...(await finishOf(deps, jobId, last)) }), base.run_id)
  const answers = await Promise.all(asks.map((ask) => answerOf(deps, jobId, ask)))
  if (last?.parkedAs) {
    const end = await run({
      ...base,
      run_id: last.parkedAs,
      resume: { run_id: last.parkedAs },
      answers: answers.slice(-1)
    })
    if (end.kind !== 'not_parked') return told(end, last.parkedAs)
  }
  return told(await run({ ...base, answers }), base.run_id)
}

function told(end: Waited<ScriptEnd>, runId: string): Ended | Asked {
  if (end.kind === 'asked') return { ...end, runId }
  return end.kind === 'not_parked' ? { kind: 'lost', message: end.message } : end
}

/** Ids of runs are the executor's own: a run that is still being ended there is never taken for the one that follows. */
export const newRunId = (jobId: string): string => `${jobId}.${randomBytes(6).toString('hex')}`

function scriptRequest(jobId: string, job: JobRun): RunRequest {
  return {
    run_id: newRunId(jobId),
    source: sourceOf(job),
    backend: job.backend,
    engine: job.engine ?? 'statevector',
    max_qubits: job.maxQubits,
    params: JSON.parse(job.params),
    limits: { wall_seconds: job.timeoutSeconds },
    graphs: 'ask',
    ...(job.atProvider && { circuits: 'ask' as const }),
    script: { seed: seedOf(jobId), now: job.startedAt!.getTime() / 1000 },
    ...(job.programmingModel && {
      entry: { model: job.programmingModel, entrypoint: job.entrypoint!, input: job.input! }
    })
  }
}

/** What the randomness of a run begins with, the same each time that the run is repeated: 52 bits, which every JSON reader takes. */
export const seedOf = (...of: string[]): number =>
  Number.parseInt(createHash('sha256').update(of.join('/')).digest('hex').slice(0, 13), 16)

async function metadataOf({ db }: ExecuteDeps, jobId: string, asks: Ask[]) {
  const graphs = asks.filter(({ kind }) => kind === 'graph')
  if (graphs.length === 0) return {}
  const returned = graphs.flatMap(({ number, body }) =>
    (JSON.parse(body) as GraphBody).returns.map((id) => taskKey(number, id))
  )
  return { workflow_metadata: JSON.stringify(workflowMetadata(inOrderOfGraphs(await listTasks(db, jobId)), returned)) }
}

/** Levels of one graph after those of the graphs before it: what a script dispatches later does not run beside them. */
function inOrderOfGraphs(tasks: TaskRow[]): TaskRow[] {
  const depths = new Map<number, number>()
  for (const { ask, level } of tasks) depths.set(ask, Math.max(depths.get(ask) ?? 0, level + 1))
  const before = (ask: number) => [...depths].reduce((sum, [other, depth]) => (other < ask ? sum + depth : sum), 0)
  const starts = new Map([...depths.keys()].map((ask) => [ask, before(ask)]))
  return tasks.map((task) => ({ ...task, level: starts.get(task.ask)! + task.level }))
}

/** What the SDK's `run_with_ids` tells of one graph, its tasks under the ids that they have there. */
async function graphMetadata({ db }: ExecuteDeps, jobId: string, { number, body }: Ask): Promise<string> {
  const own = (await listTasks(db, jobId)).filter(({ ask }) => ask === number)
  const tasks = own.map((task) => ({ ...task, key: nodeIdOf(task.key), dependsOn: task.dependsOn.map(nodeIdOf) }))
  return JSON.stringify(workflowMetadata(tasks, (JSON.parse(body) as GraphBody).returns))
}

async function finishOf(deps: ExecuteDeps, jobId: string, ask: Ask): Promise<Pick<RunRequest, 'finish'>> {
  const { name, output } = JSON.parse(ask.body) as GraphBody
  return { finish: { name, output, values: await valuesOf(deps, jobId, ask) } }
}

async function answerOf(deps: ExecuteDeps, jobId: string, ask: Ask): Promise<AskAnswer> {
  const { digest } = ask
  if (ask.kind === 'graph')
    return { digest, values: await valuesOf(deps, jobId, ask), metadata: await graphMetadata(deps, jobId, ask) }
  return circuitAnswer(ask)
}

type StoredCircuitAnswer =
  | { counts: Record<string, number>; count_source?: string; provider_job_id?: string | null }
  | { error: string }

/** The stored answer to a circuit: its counts as the text they came in, or why there are none. */
export function circuitAnswer({ digest, answer }: Ask): AskAnswer {
  const told = JSON.parse(answer!) as StoredCircuitAnswer
  if ('error' in told) return { digest, error: told.error }
  const { counts, count_source, provider_job_id } = told
  return {
    digest,
    counts: JSON.stringify(counts),
    ...(count_source && { count_source }),
    ...(provider_job_id && { provider_job_id })
  }
}

async function valuesOf({ db }: ExecuteDeps, jobId: string, { number, body }: Ask): Promise<Record<string, string>> {
  const { returns } = JSON.parse(body) as GraphBody
  const results = await taskResults(
    db,
    jobId,
    returns.map((id) => taskKey(number, id))
  )
  return Object.fromEntries([...results].map(([key, text]) => [nodeIdOf(key), text]))
}

/** A native submission's result tells where each output is; no child has to make it. */
async function completeManaged(deps: ExecuteDeps, jobId: string, job: JobRun, fence: Fence): Promise<Execution | null> {
  const number = await attemptToGoOn(deps, jobId, fence)
  if (number === null) return null
  const resultSha256 = await completeAttempt(deps.db, jobId, number, await managedResult(deps.db, jobId, job.teamId))
  return resultSha256 ? { outcome: 'completed', resultSha256 } : null
}
