// The points of a sweep: the parameters in which each run of the job differs from the others.
import { Type } from 'typebox'

export const POINTS_MAX = 1_000
/** The results of all points of a job together. */
export const POINTS_RESULT_BYTES_MAX = 16 * 1024 * 1024
/** The widest state vector of a point. The executor has the same limit. */
export const POINT_STATE_VECTOR_QUBITS_MAX = 14

export type Point = Readonly<Record<string, unknown>>

/** The parameter of a job that makes it a sweep. */
export const pointsParam = {
  points: Type.Optional(
    Type.Array(Type.Unsafe<Point>(Type.Object({}, { additionalProperties: true })), {
      minItems: 1,
      maxItems: POINTS_MAX,
      description: 'Runs the source once for each of these, with its fields in place of those of `params`.',
      examples: [[{ theta: 0.1 }, { theta: 0.2, shots: 500 }]]
    })
  )
}

/**
 * The parameters of each run: one for each point, or those of the job itself.
 * @param params of a job.
 */
export function paramsOfRuns<Params extends { points?: readonly Point[] }>(params: Params): Omit<Params, 'points'>[] {
  const { points, ...shared } = params
  return points ? points.map((point) => ({ ...shared, ...point })) : [shared]
}

/** The parameters of one run, by the name under which messages have them. */
export const nameOfRun = (params: { points?: readonly Point[] }, index: number): string =>
  params.points ? `params.points[${index}]` : 'params'
