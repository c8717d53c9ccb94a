// Executes a sweep: requests its points from the executor, some seconds' worth at a time, and stores each batch before it
// requests the next. The stored points are the progress, so this step can start again at any point.
import { performance } from 'node:perf_hooks'
import { donePoints, listPoints, type PointOutcome, storePoints } from '../../db/job-steps/job-points.js'
import type { Fence } from '../../db/jobs/fence.js'
import { type OutputRecorded, recordedOutput } from '../../db/jobs/job-events.js'
import type { JobRun } from '../../db/jobs/jobs.js'
import type { JobError } from '../../domain/errors.js'
import { POINTS_MAX } from '../../domain/jobs/params/points.js'
import { payloadsOf } from '../../domain/jobs/source.js'
import {
  allFailedError,
  failedOutcome,
  nextBatchSize,
  resultTooLarge,
  SWEEP_SECONDS_MAX,
  type SweepTexts,
  sweepResult,
  sweepTexts,
  tooLateError
} from '../../domain/jobs/sweep.js'
import { OUTPUT_BYTES_MAX } from '../../domain/jobs/value-limits.js'
import { JsonText, jsonWithTexts } from '../../domain/json/json-text.js'
import type { PointsRequest } from '../../services/executor/requests.js'
import type { OnPrinted, PointEnd, PointsEnd, RunEnd } from '../../services/executor/stream.js'
import { whenExecutorCan } from '../../services/executor/wait.js'
import { countedExecution } from './counted-execution.js'
import { currentOrNewAttempt, type ExecuteDeps, type Execution, jobAttempt, refusedAs } from './job-attempt.js'
import { retryWhileDatabaseAway } from './retry-while-database-away.js'
import { callOf, newRunId, requestOf } from './run-request.js'

/** Executes all points that are not done. `null`: this worker has lost its claim on the job. */
export async function runSweep(
  deps: ExecuteDeps,
  jobId: string,
  job: JobRun,
  fence: Fence,
  signal: AbortSignal
): Promise<Execution | null> {
  const retrying = { log: deps.log, jobId, signal }
  const sweep = sweepTexts(job.params)
  const requested = requestsOf(job, jobId, sweep)
  const done = await retryWhileDatabaseAway(retrying, () => donePoints(deps.db, jobId))
  let left = sweep.points.map((_, index) => index).filter((index) => !done.has(index))

  const attempted = { jobId, job, fence, signal }
  const attempt = jobAttempt(deps, attempted, () => currentOrNewAttempt(deps, jobId, fence))
  // The points that are left print after what those that are done have printed. Without any, all of it is printed again.
  const printed =
    done.size > 0 ? await retryWhileDatabaseAway(retrying, () => recordedOutput(deps.db, jobId)) : nothingPrinted
  const output = outputOfBatches(attempt.output.printed, printed)
  let isOpen = false
  let began: number | null = null
  const accepted = async () => {
    began = performance.now()
    isOpen ||= await attempt.accepted()
    return isOpen
  }
  let ranMs = job.pointsMs
  let size: number = POINTS_MAX

  /** Ends the attempt, once all that was printed is recorded: nothing is added to an attempt that has ended. */
  type Ending = () => Promise<Execution | null>
  const endWith = (end: Parameters<typeof attempt.ended>[0]): Ending => {
    return () => attempt.ended(end, !fence.lease)
  }
  const claimIsLost: Ending = async () => null

  /** Stores the first of the points that are left. @returns what ends the step; `next` when other points can follow. */
  async function store(points: PointOutcome[], ms: number): Promise<Ending | 'next'> {
    ranMs += ms
    const stored = await retryWhileDatabaseAway(retrying, () => storePoints(deps.db, jobId, fence, points, ms))
    if (stored === 'lost') return claimIsLost
    if (stored === 'full') return endWith({ kind: 'failed', error: resultTooLarge })
    left = left.slice(points.length)
    return 'next'
  }

  /** @returns as `store`. */
  async function runBatch(): Promise<Ending | 'next'> {
    const batch = left.slice(0, size)
    const counted = countedExecution(deps, { jobId, task: '', fence, signal })
    const execute = async (): Promise<Ending | 'next'> => {
      let unfit: JobError | null = null
      let isAnswered = false
      began = null
      const end = await whenExecutorCan<PointsEnd>(deps, callOf(job, jobId), signal, async (executor) => {
        unfit = await counted.begin()
        if (unfit) return { kind: 'refused', message: unfit.message }
        const answer = await executor.runPoints(requested(batch), signal, accepted, output.printed)
        isAnswered = answer.kind !== 'away'
        return answer
      })
      if (unfit) return endWith({ kind: 'failed', error: unfit })
      if (end.kind === 'lost' || (end.kind === 'refused' && !isAnswered)) return endWith(end)
      output.nextBatch()
      const ms = began === null ? 0 : Math.round(performance.now() - began)
      const fault = faultOf(end)
      const stored = await store(outcomesOf(batch, end, fault), ms)
      deps.announce(jobId)
      size = nextBatchSize(batch.length, fault?.message ?? null)
      return stored
    }
    return counted.run(execute, () => false)
  }

  async function runAll(): Promise<Ending> {
    const seconds = SWEEP_SECONDS_MAX[fence.lease ? 'direct' : 'temporal']
    while (left.length > 0 && ranMs <= seconds * 1_000) {
      const ended = await runBatch()
      if (ended !== 'next') return ended
    }
    if (!isOpen && !(await accepted())) return claimIsLost
    if (left.length > 0) {
      const late = { error: tooLateError(seconds) }
      const ended = await store(
        left.map((index) => outcomeOf(index, late)),
        0
      )
      if (ended !== 'next') return ended
    }
    const points = await retryWhileDatabaseAway(retrying, () => listPoints(deps.db, jobId))
    if (points.every(({ failed }) => failed))
      return endWith({ kind: 'failed', error: allFailedError(points[0]!.outcome, points.length) })
    const result = sweepResult(sweep.points, points, ranMs)
    return endWith(completed(result))
  }

  const end = await attempt.output.during(runAll())
  return end()
}

const completed = (result: string): Extract<RunEnd, { kind: 'completed' }> => ({
  kind: 'completed',
  result,
  artifacts: [],
  framework: null,
  display: null,
  displayProblem: null,
  stdout: '',
  deviceShots: null
})

/** Builds the request for the points with these numbers. */
function requestsOf(job: JobRun, jobId: string, { shared, points }: SweepTexts) {
  const payloads = job.sourceKind === 'circuits' ? payloadsOf(job.sourceText) : null
  return (batch: readonly number[]): PointsRequest => ({
    ...requestOf(job, newRunId(jobId), job.timeoutSeconds),
    params: new JsonText(shared),
    points: new JsonText(
      `[${batch
        .map((index) =>
          jsonWithTexts({
            params: new JsonText(points[index]!),
            ...(payloads && { circuit: { format: job.sourceFormat, payload: payloads[index] } })
          })
        )
        .join(',')}]`
    )
  })
}

/** Why a batch executed no point; `null` when it executed some. */
function faultOf(end: Exclude<PointsEnd, { kind: 'lost' | 'busy' | 'away' }>): JobError | null {
  if (end.kind === 'points') return null
  return end.kind === 'failed' ? end.error : refusedAs(end)
}

/** What is known of the first points of a batch. One that failed stands for one of its points, which smaller batches find. */
function outcomesOf(
  batch: readonly number[],
  end: { kind: string; points?: PointEnd[] },
  fault: JobError | null
): PointOutcome[] {
  const ended = fault === null ? end.points! : batch.length === 1 ? [{ error: fault }] : []
  return ended.map((one, place) => outcomeOf(batch[place]!, one))
}

const outcomeOf = (index: number, end: PointEnd): PointOutcome =>
  'result' in end
    ? { index, outcome: end.result, failed: false }
    : { index, outcome: failedOutcome(end.error), failed: true }

const nothingPrinted: OutputRecorded = { bytes: 0, dropped: 0 }

/** Joins what the batches print to one text, each piece with its place in it. @param recorded of earlier ones. */
function outputOfBatches(printed: OnPrinted, recorded: OutputRecorded) {
  let before = recorded.bytes + recorded.dropped
  let printedBytes = before
  return {
    printed({ offset, text, truncatedBytes }: Parameters<OnPrinted>[0]): void {
      const end = before + offset + Buffer.byteLength(text)
      printedBytes = Math.max(printedBytes, end + truncatedBytes)
      if (end <= OUTPUT_BYTES_MAX) printed({ offset: before + offset, text, truncatedBytes })
      else printed({ offset: OUTPUT_BYTES_MAX, text: '', truncatedBytes: printedBytes - OUTPUT_BYTES_MAX })
    },
    nextBatch(): void {
      before = printedBytes
    }
  }
}
