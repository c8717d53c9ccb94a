// The shots of an analog program: per site, whether an atom was there before, and whether one was seen afterwards. An atom in
// the Rydberg state is not seen.
import { draw, seededRandom } from '../simulator/random.js'
import { type Drive, evolveRydberg } from '../simulator/rydberg.js'
import type { AnalogProgram, Series } from './analog.js'
import { aquilaParadigm } from './aquila.js'

interface Shot {
  shotMetadata: { shotStatus: 'Success' | 'Failure' }
  shotResult: { preSequence: number[] | null; postSequence: number[] | null }
}

/** Draws of what may go wrong have numbers of their own, so that the shots that are spared stay as they were. */
const MISHAP_SEED = 0x51ed270b

export function analogShots(
  program: AnalogProgram,
  {
    request,
    seed,
    noise,
    failedShots
  }: { request: { shots: number }; seed: number; noise: number; failedShots: number }
): Shot[] {
  const { filling } = program
  const atomOf = filling.map((filled, site) => (filled ? filling.slice(0, site).filter((one) => one === 1).length : -1))
  const mishap = seededRandom(seed ^ MISHAP_SEED)
  return draw(analogProbabilities(program), request.shots, seededRandom(seed)).map((state) => {
    if (failedShots > 0 && mishap() < failedShots)
      return { shotMetadata: { shotStatus: 'Failure' }, shotResult: { preSequence: null, postSequence: null } }
    const random = noise > 0 && mishap() < noise
    const postSequence = atomOf.map((atom) => {
      if (atom < 0) return 0
      return random ? Number(mishap() < 0.5) : 1 - ((state >> atom) & 1)
    })
    return { shotMetadata: { shotStatus: 'Success' }, shotResult: { preSequence: [...filling], postSequence } }
  })
}

/** The probability of every state of the atoms; bit k is one when the k-th atom is in the Rydberg state. */
export function analogProbabilities({ sites, filling, driving, local }: AnalogProgram): Float64Array {
  const filled = sites.flatMap((_, site) => (filling[site] === 1 ? [site] : []))
  const series = [
    ...driving.flatMap(({ amplitude, phase, detuning }) => [amplitude, phase, detuning]),
    ...local.map(({ magnitude }) => magnitude)
  ]
  const times = [...new Set(series.flatMap((one) => one.times))].sort((a, b) => a - b)
  return evolveRydberg({
    positions: filled.map((site) => sites[site]!),
    weights: filled.map((site) => local[0]?.pattern[site] ?? 0),
    c6: Number(aquilaParadigm.rydberg.c6Coefficient),
    times,
    drive: (time) => driveAt({ driving, local }, time)
  })
}

function driveAt({ driving, local }: Pick<AnalogProgram, 'driving' | 'local'>, time: number): Drive {
  const drive = { re: 0, im: 0, detuning: 0, local: 0 }
  for (const { amplitude, phase, detuning } of driving) {
    const [size, angle] = [linear(amplitude, time), constant(phase, time)]
    drive.re += size * Math.cos(angle)
    drive.im += size * Math.sin(angle)
    drive.detuning += linear(detuning, time)
  }
  for (const { magnitude } of local) drive.local += linear(magnitude, time)
  return drive
}

/** The part of a series that a time lies in. */
function partAt({ times }: Series, time: number): number {
  let part = 0
  while (part + 2 < times.length && times[part + 1]! <= time) part++
  return part
}

function linear(series: Series, time: number): number {
  const { times, values } = series
  const part = partAt(series, time)
  const [from, to] = [times[part]!, times[part + 1]!]
  const share = Math.min(1, Math.max(0, (time - from) / (to - from)))
  return values[part]! + share * (values[part + 1]! - values[part]!)
}

/** A phase jumps at its times. */
const constant = (series: Series, time: number): number => series.values[partAt(series, time)]!
