// Executes a durable script, which can request work (tasks, circuits) and waits for the response. The rows of its requests
// (db/jobs/script-requests.ts) hold its progress, so this step can start again at any point: an open request is work for the
// workflow; once all have a response, the script continues in the child that waits for it, or restarts with all responses.
import { openAttempt } from '../../db/jobs/attempts.js'
import type { Fence } from '../../db/jobs/fence.js'
import { listTaskFacts } from '../../db/jobs/job-tasks.js'
import { isRunBy, type JobRun } from '../../db/jobs/jobs.js'
import {
  circuitAnswer,
  circuitAnswerBytes,
  graphBody,
  resultBytesByGraph,
  returnedKeys,
  taskResults
} from '../../db/jobs/script-answers.js'
import {
  answerScriptRequest,
  listScriptRequests,
  openTasks,
  recordScriptRequest,
  type ScriptRequest
} from '../../db/jobs/script-requests.js'
import type { JobError } from '../../domain/errors.js'
import { isMeasuredOften } from '../../domain/jobs/params/circuits.js'
import { nodeIdOf } from '../../domain/jobs/script-requests.js'
import { answersProblem, jobIsFull, returnedProblem } from '../../domain/jobs/value-limits.js'
import { workflowMetadata } from '../../domain/jobs/workflow-metadata.js'
import type { RunRequest, ScriptResponse } from '../../services/executor/requests.js'
import type { ScriptEnd } from '../../services/executor/stream.js'
import { type Waited, whenExecutorCan } from '../../services/executor/wait.js'
import { circuitResponse } from './circuit-answers.js'
import { countedExecution } from './counted-execution.js'
import {
  type Attempted,
  currentOrNewAttempt,
  type ExecuteDeps,
  type Execution,
  jobAttempt,
  recordResult
} from './job-attempt.js'
import { managedResult } from './managed-result.js'
import { retryWhileDatabaseAway } from './retry-while-database-away.js'
import { type OnProgress, runGraph } from './run-graph.js'
import {
  callOf,
  newRunId,
  type Parked,
  parkedOf,
  type RunEnded,
  repeatable,
  requestOf,
  resumeOrReplay
} from './run-request.js'

/**
 * Whether a job's program can request work: every program on a backend that the sandbox cannot reach, also a circuit
 * that is measured several times there, and elsewhere a program that could have a workflow. A direct job does
 * everything in its own process.
 */
export const mayRequestWork = (job: JobRun): boolean => {
  if (!job.durable) return false
  if (job.sourceKind === 'circuit' || job.framework === 'openqasm') return job.atProvider && isMeasuredOften(job.params)
  if (job.atProvider) return true
  return job.engine !== null && (job.programmingModel !== null || /\bmarqov\b/.test(job.sourceText))
}

/** Executes a script up to its next request or its end. `null`: this worker has lost its claim on the job. */
export async function runProgram(
  deps: ExecuteDeps,
  jobId: string,
  job: JobRun,
  fence: Fence,
  signal: AbortSignal,
  onProgress: OnProgress
): Promise<Execution | null> {
  // A write that changed nothing was made by another worker, or by an earlier try of this one: the rows show which.
  while (await isRunBy(deps.db, jobId, fence)) {
    const asks = await listScriptRequests(deps.db, jobId, '')
    const open = asks.find(({ state }) => state === 'open')
    if (open) {
      const work = await workOf(deps, { jobId, job, fence, signal }, open, onProgress)
      if (work?.outcome === 'stopped') return null
      if (work) return work
      continue
    }
    if (asks.at(-1)?.final && job.programmingModel) return completeManaged(deps, { jobId, job, fence, signal })
    const returned = asks.some(({ kind }) => kind === 'graph') ? await returnedKeys(deps.db, jobId) : noGraphs
    const problem = await problemOf(deps, jobId, asks, returned)
    if (problem) return { outcome: 'failed', error: problem }
    const opened = () =>
      asks.length === 0 ? openAttempt(deps.db, jobId, fence) : currentOrNewAttempt(deps, jobId, fence)
    const attempt = jobAttempt(deps, { jobId, job, fence, signal }, opened)
    const counted = countedExecution(deps, { jobId, task: '', fence, signal })
    let unfit: JobError | null = null
    const run = (build: () => Promise<RunRequest>, parked?: Parked) => {
      let request: RunRequest | null = null
      return whenExecutorCan<ScriptEnd>(deps, { ...callOf(job, jobId), ...parked }, signal, async (executor) => {
        unfit = await counted.begin()
        if (unfit) return { kind: 'refused', message: unfit.message }
        request ??= await build()
        return executor.runScript(request, signal, attempt.accepted, attempt.output.printed)
      })
    }
    const execute = async (): Promise<Execution | 'asked' | null> => {
      const { end, runId } = await attempt.output.during(resumeScript(deps, jobId, job, asks, returned, run))
      if (unfit) return { outcome: 'failed', error: unfit }
      if (end.kind === 'not_parked') return attempt.ended({ kind: 'lost', message: end.message }, !fence.lease)
      if (end.kind !== 'asked') return attempt.ended(end, !fence.lease)
      const by = { task: '', number: asks.length + 1, series: 0, ...parkedOf(end, runId) }
      const recorded = await retryWhileDatabaseAway({ log: deps.log, jobId, signal }, () =>
        recordScriptRequest(deps.db, jobId, fence, by, end.ask)
      )
      return recorded === 'full' ? attempt.ended({ kind: 'failed', error: jobIsFull }, !fence.lease) : 'asked'
    }
    const execution = await counted.run(execute, (end) => end !== 'asked' && end?.outcome === 'completed')
    if (execution !== 'asked') return execution
    deps.announce(jobId)
  }
  return null
}

const noGraphs: ReadonlyMap<number, string[]> = new Map()

/** Why the script cannot take the answers to its requests: they are compared before any of them is loaded. */
async function problemOf(
  { db }: ExecuteDeps,
  jobId: string,
  asks: ScriptRequest[],
  returned: ReadonlyMap<number, string[]>
): Promise<JobError | null> {
  const circuits = asks.some(({ kind }) => kind === 'circuit') ? await circuitAnswerBytes(db, jobId, '') : 0
  const graphs = [...(await resultBytesByGraph(db, jobId, [...returned.values()].flat())).values()]
  return returnedProblem(Math.max(0, ...graphs)) ?? answersProblem(graphs.reduce((sum, bytes) => sum + bytes, circuits))
}

/**
 * Does what an open request asks for, or leaves it to the workflow where it can take days.
 * @returns `null` when its response is stored.
 */
async function workOf(
  deps: ExecuteDeps,
  { jobId, job, fence, signal }: Attempted,
  { kind, number }: ScriptRequest,
  onProgress: OnProgress
): Promise<Execution | null> {
  if (kind === 'circuit') return { outcome: 'circuit', ask: number }
  const graph = await openTasks(deps.db, jobId, number)
  if (graph.failed) return { outcome: 'failed', error: graph.failed }
  if (graph.tasks.length > 0) {
    if (job.atProvider) return { outcome: 'tasks', ask: number }
    const end = await runGraph(deps, { jobId, job, ask: number, graph, fence, signal, onProgress })
    if (end.outcome !== 'completed') return end
  }
  await answerScriptRequest(deps.db, jobId, '', number, fence, null)
  return null
}

async function resumeScript(
  deps: ExecuteDeps,
  jobId: string,
  job: JobRun,
  asks: ScriptRequest[],
  returned: ReadonlyMap<number, string[]>,
  run: (build: () => Promise<RunRequest>, parked?: Parked) => Promise<Waited<ScriptEnd>>
): Promise<RunEnded> {
  const runId = newRunId(jobId)
  let tasks: TaskOfGraph[] | null = null
  const tasksOf = async () => {
    tasks ??= returned.size > 0 ? await listTaskFacts(deps.db, jobId) : []
    return tasks
  }
  const build = async () => ({ ...scriptRequest(job, jobId, runId), ...metadataOf(await tasksOf(), returned) })
  const last = asks.at(-1)
  if (last?.final) {
    const finish = async () => ({ ...(await build()), ...(await finishOf(deps, jobId, last, returned)) })
    return { end: await run(finish), runId }
  }
  const answerOf = async (ask: ScriptRequest): Promise<ScriptResponse> => {
    if (ask.kind === 'circuit') return circuitResponse(ask, await circuitAnswer(deps.db, jobId, '', ask.number))
    const keys = returned.get(ask.number)!
    return {
      digest: ask.digest,
      values: await valuesOf(deps, jobId, keys),
      metadata: graphMetadata(await tasksOf(), ask, keys)
    }
  }
  return resumeOrReplay({ runId, build }, asks, answerOf, run)
}

function scriptRequest(job: JobRun, jobId: string, runId: string): RunRequest {
  return {
    ...requestOf(job, runId, job.timeoutSeconds),
    graphs: 'ask',
    ...(job.atProvider && { circuits: 'ask' as const }),
    script: repeatable(job, jobId),
    ...(job.programmingModel && {
      entry: { model: job.programmingModel, entrypoint: job.entrypoint!, input: job.input! }
    })
  }
}

type TaskOfGraph = Awaited<ReturnType<typeof listTaskFacts>>[number]

function metadataOf(
  tasks: TaskOfGraph[],
  returned: ReadonlyMap<number, string[]>
): Pick<RunRequest, 'workflow_metadata' | 'task_shots'> {
  if (returned.size === 0) return {}
  const metadata = workflowMetadata(inOrderOfGraphs(tasks), [...returned.values()].flat())
  return { workflow_metadata: JSON.stringify(metadata), ...taskShots(tasks) }
}

/** Absent when it is not known of every completed task: an earlier release did not record it. */
function taskShots(tasks: TaskOfGraph[]): Pick<RunRequest, 'task_shots'> {
  const ran = tasks.filter(({ state }) => state === 'completed').map(({ deviceShots }) => deviceShots)
  if (ran.includes(null)) return {}
  // Two are enough to say that they differ.
  return { task_shots: [...new Set(ran.flat() as number[])].slice(0, 2) }
}

/** Puts the levels of a graph after those of earlier graphs, which never run at the same time. */
function inOrderOfGraphs(tasks: TaskOfGraph[]): TaskOfGraph[] {
  const depths = new Map<number, number>()
  for (const { ask, level } of tasks) depths.set(ask, Math.max(depths.get(ask) ?? 0, level + 1))
  const before = (ask: number) => [...depths].reduce((sum, [other, depth]) => (other < ask ? sum + depth : sum), 0)
  const starts = new Map([...depths.keys()].map((ask) => [ask, before(ask)]))
  return tasks.map((task) => ({ ...task, level: starts.get(task.ask)! + task.level }))
}

/** What the SDK's `run_with_ids` returns about one graph, with its tasks under the ids of that graph. */
function graphMetadata(tasks: TaskOfGraph[], { number }: ScriptRequest, returned: string[]): string {
  const own = tasks
    .filter(({ ask }) => ask === number)
    .map((task) => ({ ...task, key: nodeIdOf(task.key), dependsOn: task.dependsOn.map(nodeIdOf) }))
  return JSON.stringify(workflowMetadata(own, returned.map(nodeIdOf)))
}

async function finishOf(
  deps: ExecuteDeps,
  jobId: string,
  ask: ScriptRequest,
  returned: ReadonlyMap<number, string[]>
): Promise<Pick<RunRequest, 'finish'>> {
  const { name, output } = await graphBody(deps.db, jobId, ask.number)
  return { finish: { name, output, values: await valuesOf(deps, jobId, returned.get(ask.number)!) } }
}

async function valuesOf({ db }: ExecuteDeps, jobId: string, keys: string[]): Promise<Record<string, string>> {
  const results = await taskResults(db, jobId, keys)
  return Object.fromEntries([...results].map(([key, text]) => [nodeIdOf(key), text]))
}

/** The result of a native submission says where each output is, so no child has to build it. */
async function completeManaged(deps: ExecuteDeps, attempted: Attempted): Promise<Execution | null> {
  const { jobId, job, fence } = attempted
  const number = await currentOrNewAttempt(deps, jobId, fence)
  if (number === null) return null
  return recordResult(deps, attempted, number, { result: await managedResult(deps.db, jobId, job.teamId) })
}
