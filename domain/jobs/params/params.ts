// The parameters of a job. They are parsed once where they enter, and carried as `{ value, text }` from there on.
import { type Static, Type } from 'typebox'
import { Errors } from 'typebox/value'
import { validationError } from '../../errors.js'
import { jsonFields, jsonObject } from '../../json/json-text.js'
import { mitigationParam } from './mitigation.js'
import { observableParams } from './observables.js'
import { nameOfRun, paramsOfRuns, pointsParam } from './points.js'
import { SHOTS_MAX } from './shots.js'

export const JobParams = Type.Object(
  {
    shots: Type.Integer({ minimum: 1, maximum: SHOTS_MAX }),
    theta: Type.Optional(Type.Number()),
    graph_size: Type.Optional(Type.Integer({ minimum: 2, maximum: 20 })),
    layers: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
    noise_model: Type.Optional(Type.Object({}, { additionalProperties: true })),
    seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
    optimization_level: Type.Optional(Type.Integer({ minimum: 0, maximum: 3 })),
    extract_state_vector: Type.Optional(Type.Boolean()),
    circuit_count: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    ...observableParams,
    ...mitigationParam,
    ...pointsParam
  },
  { additionalProperties: true, description: 'Other keys are passed to the code unchanged.' }
)
export type JobParams = Static<typeof JobParams>

/**
 * Decisions read `value`. `text` is the exact JSON text that is stored and handed on: a number in it may be larger than
 * a JavaScript number can hold, so it is never written again from `value`.
 */
export interface ParsedParams {
  value: JobParams
  text: string
}

export const paramsFromValue = (value: JobParams): ParsedParams => ({ value, text: JSON.stringify(value) })

/**
 * For parameters in a JSON body; its guard has refused numbers that JavaScript cannot hold.
 * @param body the text of the body, in which `1.0` is a float for Python programs.
 */
export function paramsFromBody(value: JobParams, body: string): ParsedParams {
  const written = jsonFields(body).get('params')
  if (written === undefined) return paramsFromValue(value)
  const texts = jsonFields(written)
  // Defaults are in the value alone.
  const fields = Object.entries(value).map(([name, one]) => [name, texts.get(name) ?? JSON.stringify(one)] as const)
  return { value, text: jsonObject(fields) }
}

/** What a point cannot have: it is one run, with the number of circuits that the job declares. */
const NOT_OF_A_POINT = ['points', 'circuit_count']

/** Of the points of a job together, in characters: groups of them are made at submission. */
const POINT_OBSERVABLES_MAX = 100_000

/** @throws ServiceError `validation_error` naming the first parameter of a point that no run could have. */
export function assertPoints(
  params: Pick<JobParams, 'points'>,
  nameOf = (index: number) => nameOfRun(params, index)
): void {
  let characters = 0
  for (const [index, point] of (params.points ?? []).entries()) {
    for (const [name, value] of Object.entries(point)) {
      const field = `${nameOf(index)}.${name}`
      if (NOT_OF_A_POINT.includes(name)) throw validationError(`${field}: a point has none; it is of the whole job`)
      if (!Object.hasOwn(JobParams.properties, name)) continue
      const [fault] = Errors(JobParams.properties[name as keyof typeof JobParams.properties], value)
      if (fault) throw validationError(`${field}: ${fault.message} (got ${JSON.stringify(value)?.slice(0, 60)})`)
    }
    const { observables } = point as Partial<JobParams>
    for (const text of observables ?? []) characters += text.length
  }
  if (characters > POINT_OBSERVABLES_MAX)
    throw validationError(
      `params.points: their own observables must have at most ${POINT_OBSERVABLES_MAX.toLocaleString('en')} characters together (got ${characters.toLocaleString('en')}); observables of the job itself count once`
    )
}

/** The shots of each run: a sweep has several. */
export const shotsOfRuns = (params: JobParams): number[] => paramsOfRuns(params).map(({ shots }) => shots)

/** @param text a JSON object that was checked when it was stored. */
export const paramsFromText = (text: string): ParsedParams => ({ value: JSON.parse(text) as JobParams, text })
