// A sweep: a job that runs its source once for each of its points. The points run in batches, and their results become one.
import type { JobError } from '../errors.js'
import { jsonFields, jsonItems, jsonObject } from '../json/json-text.js'
import { POINTS_MAX, POINTS_RESULT_BYTES_MAX } from './params/points.js'

/** How long the points of a job can run together: a direct job holds a slot of its worker. */
export const SWEEP_SECONDS_MAX = { direct: 900, temporal: 12 * 3_600 } as const

/** JSON texts: of the parameters that the points share, and of those of each point. */
export interface SweepTexts {
  shared: string
  points: string[]
}

/** @param params JSON text of the parameters of a sweep. */
export function sweepTexts(params: string): SweepTexts {
  const fields = jsonFields(params)
  const points = jsonItems(fields.get('points')!)
  fields.delete('points')
  return { shared: jsonObject(fields), points }
}

/**
 * How many points the next request has.
 * @param requested how many the last one had.
 * @param fault why it ended without any point; `null` when it executed some.
 */
export function nextBatchSize(requested: number, fault: string | null): number {
  if (fault === null) return Math.min(POINTS_MAX, 2 * requested)
  // Each further request that has the slow point waits for the limit again.
  return fault.startsWith('time limit of ') ? 1 : Math.ceil(requested / 2)
}

/** What is recorded of a point that failed, as JSON text. */
export const failedOutcome = ({ code, message }: JobError): string => JSON.stringify({ error: { code, message } })

export const tooLateError = (seconds: number): JobError => ({
  code: 'execution_error',
  message: `this point did not begin: the points of this job had run for ${seconds} s, the limit`
})

export const resultTooLarge: JobError = {
  code: 'execution_error',
  message: `the results of the points take more than ${POINTS_RESULT_BYTES_MAX / 1024 ** 2} MiB together: send fewer points, or return less from each`
}

/** Why the job fails: all of its points did. @param first outcome of point 0. */
export function allFailedError(first: string, total: number): JobError {
  const { error } = JSON.parse(first) as { error: JobError }
  return total === 1
    ? { ...error, message: `point 0: ${error.message}` }
    : { ...error, message: `all ${total} points failed; point 0: ${error.message}` }
}

/**
 * The result of a sweep, as JSON text.
 * @param outcomes of all points, in order: JSON texts of objects.
 * @param executionTimeMs of all batches.
 */
export function sweepResult(
  points: readonly string[],
  outcomes: readonly { outcome: string; failed: boolean }[],
  executionTimeMs: number
): string {
  const fields = outcomes.map(({ outcome }) => jsonFields(outcome))
  const failed = outcomes.flatMap((one, index) => (one.failed ? [index] : []))
  const texts = fields.map((own, index) =>
    jsonObject([
      ['index', String(index)],
      ['params', isEmpty(points[index]!) ? undefined : points[index]],
      ...[...own].filter(([name]) => name !== 'execution_time_ms')
    ])
  )
  return jsonObject([
    ['points', `[${texts.join(',')}]`],
    ['total_points', String(outcomes.length)],
    ['failed_points', JSON.stringify(failed)],
    ['execution_time_ms', String(executionTimeMs)],
    ['metadata', sharedMetadata(fields.flatMap((own) => own.get('metadata') ?? []))]
  ])
}

/** What the metadata of all points say alike, and that this is a sweep: no program can write this member. */
function sharedMetadata(texts: readonly string[]): string {
  const [first, ...others] = texts.map(jsonFields)
  const shared = [...first!].filter(([name, text]) => others.every((other) => other.get(name) === text))
  return jsonObject([...shared, ['sweep', 'true']])
}

const isEmpty = (point: string): boolean => jsonFields(point).size === 0

/** One point of the result of a sweep, as JSON text. @param result of a sweep that has the point. */
export const pointOf = (result: string, point: number): string => jsonItems(jsonFields(result).get('points')!)[point]!
