// The shots of a circuit, as a number for each register: bit k of the number is bit k of the register.
import { drawNoisy, touchedBy, weightsOf } from '../simulator/execution.js'
import type { Pub } from './job.js'
import type { Program } from './programs.js'

export interface Samples {
  name: string
  bits: number
  /** One for each shot. */
  values: bigint[]
}

/** @param noise how likely a shot returns random bits in the place of its own. The same seed draws the same shots. */
export function samplesOf({ program, shots }: Pub, settings: { seed: number; noise: number }): Samples[] {
  const touched = touchedBy(program.operations)
  const place = new Map(touched.map((qubit, index) => [qubit, index]))
  const known = new Map<number, bigint[]>()
  const rows = drawNoisy(weightsOf(program.operations, touched), shots, settings, {
    of: (index) => {
      const row = known.get(index) ?? rowOf(program, (qubit) => bitOf(index, place.get(qubit)))
      known.set(index, row)
      return row
    },
    any: (random) => {
      const bits = new Map(program.writes.map(({ qubit }) => [qubit, random() < 0.5]))
      return rowOf(program, (qubit) => bits.get(qubit)!)
    }
  })
  return program.registers.map(({ name, size }, register) => ({
    name,
    bits: size,
    values: rows.map((row) => row[register]!)
  }))
}

/** A qubit that no gate touches is zero. */
const bitOf = (index: number, place: number | undefined): boolean => place !== undefined && ((index >> place) & 1) === 1

function rowOf({ registers, writes }: Program, isOne: (qubit: number) => boolean): bigint[] {
  const row = registers.map(() => 0n)
  for (const { register, bit, qubit } of writes) if (isOne(qubit)) row[register] = row[register]! | (1n << BigInt(bit))
  return row
}
