// Outcomes as people read them: split into registers, with qubit 0 leftmost or, on demand, as Qiskit prints them. Only
// what is shown changes; outcomes themselves always have qubit 0 leftmost.
import type { OutcomeOrder, Register } from '../../results/counts.js'
import { numbered } from '../../text/exact-numbers.js'
import { clipped } from '../../text/shown-text.js'

export interface OutcomeReading {
  order: OutcomeOrder
  /** From left to right; empty where they are not known. */
  registers: readonly Register[]
}

const REGISTERS_NAMED_MAX = 8
const NAME_CELLS_MAX = 24

/** Whether Qiskit has an order for these outcomes: bits of a circuit, not sites of atoms or texts of a program. */
export const canTurn = ({ order }: OutcomeReading, outcomes: Iterable<string>): boolean => {
  if (order !== 'qubit 0 leftmost') return false
  for (const outcome of outcomes) if (!/^[01]+$/.test(outcome)) return false
  return true
}

/**
 * The parts of an outcome from left to right, one for each register.
 * @param turned as Qiskit prints it: the last register first, bit 0 of each rightmost.
 */
export function outcomeParts(outcome: string, registers: readonly Register[], turned: boolean): string[] {
  const parts: string[] = []
  let at = 0
  for (const { size } of registers) {
    parts.push(outcome.slice(at, at + size))
    at += size
  }
  // An outcome of another width is not split at all, rather than at a wrong place.
  const whole = registers.length === 0 || at !== outcome.length ? [outcome] : parts
  return turned ? whole.map(reversed).reverse() : whole
}

const reversed = (bits: string): string => [...bits].reverse().join('')

/** What stands under the histogram about the order of its outcomes. */
export function orderText({ order, registers }: OutcomeReading, turned: boolean): string {
  if (order === 'site order')
    return 'One letter for each site, site 0 leftmost: e empty, g ground state, r Rydberg state.'
  if (order === 'unstated') return 'Outcomes as the program returned them; the order of their bits is not stated.'
  const several = registers.length > 1
  const order0 = turned
    ? `Shown in the order of Qiskit: ${several ? 'the last register first, ' : ''}qubit 0 rightmost. Results and files keep qubit 0 leftmost.`
    : `Qubit 0 leftmost${several ? ', bit 0 of each register leftmost' : ''}.`
  return registers.length === 0 ? order0 : `${order0} ${registersText(registers, turned)}`
}

/** `Registers from left to right: c (2 bits; qubits 0, 1), d (1 bit; qubit 4).` */
function registersText(registers: readonly Register[], turned: boolean): string {
  const named = registers.map(({ name, size, qubits }) => {
    const from = qubits && !qubits.every((qubit, bit) => qubit === bit && registers.length === 1)
    const shownQubits = from ? `; ${qubitsText(turned ? [...qubits].reverse() : qubits)}` : ''
    return `${clipped(name, NAME_CELLS_MAX)} (${numbered(size, 'bit')}${shownQubits})`
  })
  const ordered = turned ? named.reverse() : named
  const rest = ordered.length - REGISTERS_NAMED_MAX
  const listed = [...ordered.slice(0, REGISTERS_NAMED_MAX), ...(rest > 0 ? [`${rest} more`] : [])].join(', ')
  return registers.length === 1 ? `Register: ${listed}.` : `Registers from left to right: ${listed}.`
}

const QUBITS_NAMED_MAX = 8

function qubitsText(qubits: readonly number[]): string {
  const rest = qubits.length - QUBITS_NAMED_MAX
  const named = qubits.slice(0, QUBITS_NAMED_MAX).join(', ')
  return `${qubits.length === 1 ? 'qubit' : 'qubits'} ${named}${rest > 0 ? ` and ${rest} more` : ''}`
}

/**
 * An outcome in lines of limited length, its parts apart by a space.
 * @returns the whole outcome where it fits into `linesMax` lines, else its beginning and its end.
 */
export function labelLines(parts: readonly string[], lineCells: number, linesMax: number): string[] {
  const text = parts.join(' ')
  const lines: string[] = []
  for (let at = 0; at < text.length; at += lineCells) lines.push(text.slice(at, at + lineCells).trim())
  if (lines.length <= linesMax) return lines
  const tail = Math.floor(linesMax / 2)
  const head = lines.slice(0, linesMax - tail)
  const end = text.slice(-tail * lineCells)
  const ends: string[] = []
  for (let at = 0; at < end.length; at += lineCells) ends.push(end.slice(at, at + lineCells).trim())
  head[head.length - 1] = `${head.at(-1)!.slice(0, -1)}…`
  return [...head, ...ends]
}
