// The content of a result's blob, in the format of each provider.
import { countOutcomes, drawShots, runExactly } from '../../ionq/run.js'
import { drawNoisy, touchedBy, weightsOf, withNoise } from '../../simulator/execution.js'
import type { Job } from '../job.js'
import { runShots } from './mid-circuit.js'
import type { GateProgram } from './program.js'

/** Of a job that has succeeded. */
export function resultBody({ id, program, target, seed, noise }: Job): Buffer {
  if (program.kind === 'failed') throw new Error(`job ${id} failed and has no result`)
  const settings = { seed, noise: target.kind === 'machine' ? noise : 0 }
  if (program.kind === 'ionq') {
    const exact = runExactly(program.ionq)
    if (target.kind === 'exact')
      return json({
        histogram: Object.fromEntries(
          exact.outcomes.map((outcome, index) => [String(outcome), exact.probabilities[index]!])
        )
      })
    const counts = countOutcomes(drawShots(exact, program.shots, settings))
    return json({
      histogram: Object.fromEntries([...counts].map(([outcome, count]) => [String(outcome), count / program.shots]))
    })
  }
  const { gates, shots } = program
  const width = gates.registers.reduce((sum, { cells }) => sum + cells.length, 0)
  const rows =
    target.kind === 'checker'
      ? Array.from({ length: shots }, () => Array<number>(width).fill(0))
      : rowsOf(gates, shots, settings)
  return json(byRegister(gates, rows, target.provider === 'rigetti' ? (bits) => bits : lastFirst))
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

/** Quantinuum writes the last bit of a register first. */
const lastFirst = (bits: readonly number[]): string => [...bits].reverse().join('')

/** One row for each shot, with one column for each bit of the registers in their order. */
function rowsOf(
  { operations, registers, steps }: GateProgram,
  shots: number,
  settings: { seed: number; noise: number }
): number[][] {
  const cells = registers.flatMap((register) => register.cells)
  const any = (random: () => number) => cells.map((qubit) => (qubit !== null && random() < 0.5 ? 1 : 0))
  if (steps) return withNoise(runShots(steps, registers, shots, settings.seed), settings, any)
  const touched = touchedBy(operations)
  // A qubit that no gate touches is zero, and so is a bit that nothing is measured into.
  const places = cells.map((qubit) => (qubit === null ? -1 : touched.indexOf(qubit)))
  return drawNoisy(weightsOf(operations, touched), shots, settings, {
    of: (index) => places.map((place) => (place < 0 ? 0 : (index >> place) & 1)),
    any
  })
}

function byRegister(
  { registers }: GateProgram,
  rows: readonly number[][],
  written: (bits: readonly number[]) => unknown
): Record<string, unknown[]> {
  const found: Record<string, unknown[]> = {}
  let first = 0
  for (const { name, cells } of registers) {
    const [begin, end] = [first, first + cells.length]
    found[name] = rows.map((row) => written(row.slice(begin, end)))
    first = end
  }
  return found
}
