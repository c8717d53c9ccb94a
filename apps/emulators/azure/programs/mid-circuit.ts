// Runs programs that measure, reset and decide before their end: shot by shot, since each outcome decides what follows.
import type { Condition, Step } from '../../language/program.js'
import { applyTo, touchedBy } from '../../simulator/execution.js'
import { fixedGates } from '../../simulator/gates.js'
import { seededRandom } from '../../simulator/random.js'
import { StateVector } from '../../simulator/state-vector.js'
import type { Register } from './program.js'

/** Steps times amplitudes times shots: some seconds, in which the emulator does not respond. */
const workMax = 2 ** 29

/** Why a program is too large to be run shot by shot; null if it is not. */
export function tooLong(steps: readonly Step[], shots: number): { message: string } | null {
  const { length } = qubitsOf(steps)
  if (steps.length * 2 ** length * shots <= workMax) return null
  return {
    message: `${steps.length} steps on ${length} qubits in ${shots} shots are more than this emulator runs one by one.`
  }
}

/** One row for each shot, with one column for each bit of the registers in their order. */
export function runShots(
  steps: readonly Step[],
  registers: readonly Register[],
  shots: number,
  seed: number
): number[][] {
  const qubits = qubitsOf(steps)
  const place = (qubit: number): number => qubits.indexOf(qubit)
  const first = firstCells(registers)
  const random = seededRandom(seed)
  const begin = steps.findIndex(({ kind, condition }) => kind !== 'gate' || condition !== null)
  // What comes before the first outcome is the same for all shots.
  const prepared = new StateVector(qubits.length)
  for (const step of steps.slice(0, begin)) if (step.kind === 'gate') applyTo(prepared, step.operation, place)
  return Array.from({ length: shots }, () => {
    const state = prepared.copy()
    const cells = Array<number>(registers.reduce((sum, register) => sum + register.cells.length, 0)).fill(0)
    let last: { condition: Condition | null; holds: boolean } = { condition: null, holds: true }
    for (const step of steps.slice(begin)) {
      // A condition is decided once for all steps of its statement.
      if (step.condition !== last.condition)
        last = { condition: step.condition, holds: holds(step.condition, cells, registers, first) }
      if (last.holds) act(step)
    }
    return cells

    function act(step: Step): void {
      if (step.kind === 'gate') {
        applyTo(state, step.operation, place)
        return
      }
      const qubit = place(step.kind === 'reset' ? step.qubit : step.measurement.qubit.index)
      const outcome = qubit < 0 ? 0 : state.measure(qubit, random())
      if (step.kind === 'reset') {
        if (outcome) state.apply(fixedGates.x, [qubit])
      } else {
        const { register, element } = step.measurement.bit!
        cells[first.get(register)! + element] = outcome
      }
    }
  })
}

/** A qubit that no gate touches is zero, whatever becomes of it. */
const qubitsOf = (steps: readonly Step[]): number[] =>
  touchedBy(steps.flatMap((step) => (step.kind === 'gate' ? [step.operation] : [])))

/** The column of each register's first bit. */
function firstCells(registers: readonly Register[]): Map<string, number> {
  let next = 0
  return new Map(
    registers.map(({ name, cells }) => {
      const first = next
      next += cells.length
      return [name, first] as const
    })
  )
}

function holds(
  condition: Condition | null,
  cells: readonly number[],
  registers: readonly Register[],
  first: ReadonlyMap<string, number>
): boolean {
  if (!condition) return true
  const begin = first.get(condition.register)!
  const { length } = registers.find(({ name }) => name === condition.register)!.cells
  const bits = cells.slice(begin, begin + length)
  return bits.reduceRight((value, bit) => value * 2n + BigInt(bit), 0n) === condition.value
}
