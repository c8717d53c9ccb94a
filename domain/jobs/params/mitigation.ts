// Which errors a job mitigates (`params.mitigation`), and the rules between it and the other parameters. The executor
// reads it again (apps/executor/qjs_executor/mitigation.py).
import { type Static, Type } from 'typebox'
import { validationError } from '../../errors.js'
import { oneOf } from '../../json/one-of.js'
import { devicesWithReadoutFigures } from './noise-model.js'

const FACTORS_MIN = 2
const FACTORS_MAX = 5
const FACTOR_MAX = 9

export const fits = ['linear', 'polynomial', 'richardson'] as const

const Zne = Type.Object(
  {
    factors: Type.Array(Type.Number({ minimum: 1, maximum: FACTOR_MAX }), {
      minItems: FACTORS_MIN,
      maxItems: FACTORS_MAX,
      description: 'By how much the noise is scaled: 1 first, then increasing.',
      examples: [[1, 3, 5]]
    }),
    fit: oneOf(fits, 'Through the values of the factors; `richardson` passes through all of them.'),
    order: Type.Optional(
      Type.Integer({ minimum: 1, maximum: FACTORS_MAX - 1, description: 'Of the fit polynomial, which needs it.' })
    )
  },
  { additionalProperties: false, description: 'Zero-noise extrapolation of `observables`.' }
)

const Mitigation = Type.Object(
  {
    readout: Type.Optional(
      Type.Boolean({ description: 'Corrects counts and expectation values by measured errors of readout.' })
    ),
    zne: Type.Optional(Zne)
  },
  {
    additionalProperties: false,
    description: 'Mitigates errors; raw values stay in the result, next to the mitigated ones.'
  }
)
export type Mitigation = Static<typeof Mitigation>

/** The parameter of a job that asks for mitigation. */
export const mitigationParam = { mitigation: Type.Optional(Mitigation) }

/** Two circuits measure the errors of readout: each qubit is 0 in one of them and 1 in the other. */
export const calibrationCircuits = ({ readout }: Mitigation): number => (readout ? 2 : 0)

/** By how many circuits each group of observables is measured. */
export const factorsOf = (mitigation: Mitigation | undefined): number => mitigation?.zne?.factors.length ?? 1

interface Beside {
  mitigation?: Mitigation
  observables?: readonly string[]
  observables_method?: string
  optimization_level?: number
}

/** Refuses mitigation that makes no sense on any backend. @throws ServiceError `validation_error`. */
export function assertMitigation(mitigation: Mitigation, beside: Beside): void {
  const { readout, zne } = mitigation
  if (!readout && !zne) throw validationError('params.mitigation: needs readout: true, zne or both')
  if (beside.observables_method === 'exact')
    throw validationError('params.observables_method: cannot be exact with params.mitigation, which takes shots')
  if (zne) assertZne(zne, beside)
}

function assertZne({ factors, fit, order }: Static<typeof Zne>, beside: Beside): void {
  const where = 'params.mitigation.zne'
  if (beside.observables === undefined)
    throw validationError(`${where}: extrapolates expectation values, so it needs params.observables`)
  if (beside.optimization_level)
    throw validationError(
      `params.optimization_level: must be 0 with ${where}, because an optimizer removes folded gates (got ${beside.optimization_level})`
    )
  if (factors[0] !== 1 || factors.some((factor, at) => at > 0 && factor <= factors[at - 1]!))
    throw validationError(`${where}.factors: must begin with 1 and increase (got ${JSON.stringify(factors)})`)
  if (fit !== 'polynomial' && order !== undefined)
    throw validationError(`${where}.order: is for the fit polynomial (got ${fit})`)
  if (fit === 'polynomial' && (order === undefined || order >= factors.length))
    throw validationError(
      `${where}.order: must be an integer from 1 to ${factors.length - 1}, below the number of factors (got ${order})`
    )
}

/**
 * Refuses mitigation of errors that a simulator does not make.
 * @param model of the job, checked.
 * @throws ServiceError `validation_error`.
 */
export function assertNoiseToMitigate({ readout, zne }: Mitigation, model: unknown): void {
  if (model === undefined)
    throw validationError('params.mitigation: without params.noise_model a simulator makes no errors to mitigate')
  const { like, gate_errors, readout_errors, t1_us, t2_us } = model as Record<string, unknown>
  const errors = Object.values((readout_errors ?? {}) as Record<string, Record<string, number>>)
  if (readout && !errors.some(isAboveZero) && !devicesWithReadoutFigures.includes(like as never))
    throw validationError('params.mitigation.readout: params.noise_model has no readout_errors to mitigate')
  if (zne && like === undefined && !isAboveZero(gate_errors ?? {}) && t1_us === undefined && t2_us === undefined)
    throw validationError('params.mitigation.zne: params.noise_model has no errors of gates, which alone are scaled')
}

const isAboveZero = (values: object): boolean => Object.values(values).some((value: number) => value > 0)
