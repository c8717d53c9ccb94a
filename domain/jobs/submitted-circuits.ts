// The circuits of a submission. Many of them are the points of one job.
import { type Static, Type } from 'typebox'
import { validationError } from '../errors.js'
import { jsonFields, jsonItems, jsonObject, jsonSize } from '../json/json-text.js'
import { oneOf } from '../json/one-of.js'
import { assertPoints, type ParsedParams } from './params/params.js'
import { POINTS_MAX, type Point } from './params/points.js'
import { circuitFormats, type OpenqasmFormat, openqasmFormats } from './source.js'

export const CIRCUIT_PAYLOAD_MAX = 1_048_576

const payload = Type.String({ minLength: 1, maxLength: CIRCUIT_PAYLOAD_MAX })

export const Circuit = {
  format: oneOf(circuitFormats, '`ahs`: an analog program of Amazon Braket, for backends with this program type'),
  payload
}

export const Circuits = Type.Array(
  Type.Object(
    {
      format: oneOf(openqasmFormats),
      payload,
      params: Type.Optional(Type.Unsafe<Point>(Type.Object({}, { additionalProperties: true })))
    },
    { $id: 'CircuitOfSweep' }
  ),
  {
    minItems: 1,
    maxItems: POINTS_MAX,
    description:
      'In place of `circuit`: each of these is a point of the job, with its own `params` in place of those of the job. All have one format.'
  }
)
type Circuits = Static<typeof Circuits>

/**
 * The texts as one, in the form that is stored.
 * @throws ServiceError `validation_error` for several formats, or too many bytes.
 */
export function readCircuits(circuits: Circuits): { format: OpenqasmFormat; text: string } {
  const { format } = circuits[0]!
  const other = circuits.findIndex((circuit) => circuit.format !== format)
  if (other > 0)
    throw validationError(
      `circuits[${other}].format: must be that of the first circuit, ${format} (got ${circuits[other]!.format}); submit a job for each format`
    )
  const bytes = circuits.reduce((sum, { payload }) => sum + jsonSize(payload), 0)
  if (bytes > CIRCUIT_PAYLOAD_MAX)
    throw validationError(
      `circuits: must have at most ${CIRCUIT_PAYLOAD_MAX} bytes of payload together (got ${bytes}); where only numbers differ, send one circuit with inputs and params.points`
    )
  return { format, text: JSON.stringify(circuits.map(({ payload }) => payload)) }
}

/**
 * The parameters of a job of many circuits: theirs become its points.
 * @param body the text of the body.
 * @param shared the parameters of the job itself.
 * @throws ServiceError `validation_error`.
 */
export function readPointsOf(circuits: Circuits, body: string, shared: ParsedParams): ParsedParams {
  if (shared.value.points)
    throw validationError('params.points: each of circuits is a point already; send its parameters there')
  const points = circuits.map(({ params = {} }) => params)
  assertPoints({ points }, (index) => `circuits[${index}].params`)
  const texts = jsonItems(jsonFields(body).get('circuits')!).map((circuit) => jsonFields(circuit).get('params') ?? '{}')
  return {
    value: { ...shared.value, points },
    text: jsonObject([...jsonFields(shared.text), ['points', `[${texts.join(',')}]`]])
  }
}
