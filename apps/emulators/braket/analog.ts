// Reads an analog program, braket.ir.ahs.program version 1, and holds it against Aquila's limits.
import { ATOMS_MAX } from '../simulator/rydberg.js'
import { aquilaParadigm } from './aquila.js'
import { AwsError } from './aws/replies.js'

export interface Series {
  times: readonly number[]
  values: readonly number[]
}

export interface AnalogProgram {
  sites: readonly (readonly [x: number, y: number])[]
  filling: readonly number[]
  driving: readonly { amplitude: Series; phase: Series; detuning: Series }[]
  local: readonly { magnitude: Series; pattern: readonly number[] }[]
}

/** Why an accepted program fails. */
export class AnalogFault extends Error {
  override readonly name = 'AnalogFault'
}

const { lattice, rydberg } = aquilaParadigm
const global = rydberg.rydbergGlobal
/** Positions and times that are equal to their limits are not beyond them. */
const rounding = 1e-12

/** @throws AwsError for a program that Braket does not accept, AnalogFault for one that this emulator cannot run. */
export function readAnalog(action: Record<string, unknown>): AnalogProgram {
  const register = objectAt(objectAt(action, 'setup'), 'ahs_register')
  const sites = listAt(register, 'sites').map((site) => {
    const pair = Array.isArray(site) ? site.map(numberOf) : []
    if (pair.length !== 2) throw invalid('each of the sites must be a pair of numbers')
    return [pair[0]!, pair[1]!] as const
  })
  const filling = listAt(register, 'filling').map((one) => {
    if (one !== 0 && one !== 1) throw invalid('filling must hold only 0 and 1')
    return one
  })
  if (filling.length !== sites.length) throw invalid('filling must be as long as sites')
  const hamiltonian = objectAt(action, 'hamiltonian')
  const program = {
    sites,
    filling,
    driving: optionalList(hamiltonian, 'drivingFields').map((field) => ({
      amplitude: uniform(field, 'amplitude'),
      phase: uniform(field, 'phase'),
      detuning: uniform(field, 'detuning')
    })),
    local: optionalList(hamiltonian, 'localDetuning', 'shiftingFields').map((field) => {
      const magnitude = objectAt(field, 'magnitude')
      const pattern = listAt(magnitude, 'pattern').map(numberOf)
      if (pattern.length !== sites.length) throw invalid('the pattern of localDetuning must be as long as sites')
      return { magnitude: seriesOf(magnitude, 'localDetuning'), pattern }
    })
  }
  assertWithinLimits(program)
  const atoms = filling.filter((one) => one === 1).length
  if (atoms > ATOMS_MAX)
    throw new AnalogFault(`The program has ${atoms} atoms; this emulator simulates at most ${ATOMS_MAX}.`)
  return program
}

const invalid = (message: string): AwsError =>
  new AwsError('ValidationException', `The analog program is invalid: ${message}.`)

function assertWithinLimits({ sites, driving, local }: AnalogProgram): void {
  const { geometry, area } = lattice
  if (sites.length === 0 || sites.length > geometry.numberSitesMax)
    throw invalid(`it must have 1 to ${geometry.numberSitesMax} sites (got ${sites.length})`)
  for (const [axis, limit] of [
    [0, area.width],
    [1, area.height]
  ] as const) {
    const values = sites.map((site) => site[axis])
    if (Math.max(...values) - Math.min(...values) > Number(limit) + rounding)
      throw invalid(`its sites extend over more than ${limit} m`)
  }
  const near = Number(geometry.spacingRadialMin) - rounding
  if (
    sites.some(([x, y], index) =>
      sites.slice(0, index).some(([otherX, otherY]) => Math.hypot(x - otherX, y - otherY) < near)
    )
  )
    throw invalid(`two of its sites are closer than ${geometry.spacingRadialMin} m`)
  if (driving.length > 1 || local.length > 1) throw invalid('the device takes one driving field and one local detuning')
  for (const { amplitude, phase, detuning } of driving) {
    assertSeries('amplitude', amplitude, global.rabiFrequencyRange, global.rabiFrequencySlewRateMax)
    assertSeries('detuning', detuning, global.detuningRange, global.detuningSlewRateMax)
    assertSeries('phase', phase, global.phaseRange, null)
    if (amplitude.values[0] !== 0 || amplitude.values.at(-1) !== 0) throw invalid('amplitude must begin and end with 0')
  }
  for (const { magnitude, pattern } of local) {
    assertSeries(
      'localDetuning',
      magnitude,
      rydberg.rydbergLocal.detuningRange,
      rydberg.rydbergLocal.detuningSlewRateMax
    )
    if (pattern.some((one) => one < 0 || one > 1)) throw invalid('the pattern of localDetuning must be from 0 to 1')
  }
  const ends = new Set([
    ...driving.flatMap(({ amplitude, phase, detuning }) =>
      [amplitude, phase, detuning].map(({ times }) => times.at(-1))
    ),
    ...local.map(({ magnitude }) => magnitude.times.at(-1))
  ])
  if (ends.size > 1) throw invalid('its time series end at different times')
}

function assertSeries(
  name: string,
  { times, values }: Series,
  [low, high]: readonly [string, string],
  slewMax: string | null
): void {
  if (times[0] !== 0) throw invalid(`${name} must begin at time 0`)
  if (times.at(-1)! > Number(global.timeMax) + rounding) throw invalid(`${name} lasts longer than ${global.timeMax} s`)
  if (values.some((value) => value < Number(low) || value > Number(high)))
    throw invalid(`${name} must be from ${low} to ${high}`)
  for (let index = 1; index < times.length; index++) {
    const length = times[index]! - times[index - 1]!
    if (length < Number(global.timeDeltaMin) - rounding)
      throw invalid(`two times of ${name} are closer than ${global.timeDeltaMin} s`)
    const slew = Math.abs(values[index]! - values[index - 1]!) / length
    if (slewMax !== null && slew > Number(slewMax) * (1 + 1e-9)) throw invalid(`${name} changes faster than ${slewMax}`)
  }
}

function uniform(field: unknown, name: string): Series {
  const physical = objectAt(field, name)
  if (physical.pattern !== 'uniform') throw invalid(`the pattern of ${name} must be "uniform"`)
  return seriesOf(physical, name)
}

function seriesOf(field: Record<string, unknown>, name: string): Series {
  const series = objectAt(field, 'time_series')
  const times = listAt(series, 'times').map(numberOf)
  const values = listAt(series, 'values').map(numberOf)
  if (times.length !== values.length || times.length < 2)
    throw invalid(`${name} must have as many values as times, and two`)
  return { times, values }
}

function objectAt(parent: unknown, key: string): Record<string, unknown> {
  const found = isObject(parent) ? parent[key] : undefined
  if (!isObject(found)) throw invalid(`${key} must be an object`)
  return found
}

function listAt(parent: Record<string, unknown>, key: string): unknown[] {
  const found = parent[key]
  if (!Array.isArray(found)) throw invalid(`${key} must be a list`)
  return found
}

/** The first of the keys that is there. */
function optionalList(parent: Record<string, unknown>, ...keys: string[]): unknown[] {
  const key = keys.find((one) => parent[one] !== undefined && parent[one] !== null)
  return key === undefined ? [] : listAt(parent, key)
}

function numberOf(value: unknown): number {
  const number =
    typeof value === 'number' ? value : typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
  if (!Number.isFinite(number)) throw invalid(`${JSON.stringify(value)?.slice(0, 40)} is not a number`)
  return number
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
