// The parameters of a job. They are parsed once where they enter, and carried as `{ value, text }` from there on.
import { type Static, Type } from 'typebox'
import { jsonFields, jsonObject } from '../../json/json-text.js'
import { observableParams } from './observables.js'

export const SHOTS_MAX = 100_000

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
    ...observableParams
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

/** @param text a JSON object that was checked when it was stored. */
export const paramsFromText = (text: string): ParsedParams => ({ value: JSON.parse(text) as JobParams, text })
