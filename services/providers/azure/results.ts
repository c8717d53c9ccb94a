// Reads the results of a job. They lie in the workspace's storage account, so nothing about them is certain.
import {
  addUp,
  bitsOfInteger,
  canonicalBits,
  countsOfHistogram,
  countsOfProbabilities
} from '../../../domain/backends/provider-counts.js'
import type { ProviderJobCounts, ProviderProgram } from '../adapter.js'
import { parsed } from '../json-answers.js'
import { isQuantumComputer, isSyntaxChecker, type OutputFormat } from './targets.js'

interface Task {
  program: ProviderProgram
  shots: number
}

type Counts = Pick<ProviderJobCounts, 'counts' | 'source' | 'probabilities' | 'warnings'>

/** For what results contain in addition to each shot. */
const BESIDES_SHOTS = 1024 * 1024
const RESULT_MAX = 32 * 1024 * 1024
/** A line of a histogram: a decimal integer of at most 60 qubits, and a number. */
const OUTCOME_BYTES = 64

/** How many bytes the results can have: larger ones are not those of this job. */
export function resultBytesMax(format: OutputFormat, { program: { qubits, readout }, shots }: Task): number {
  if (format === 'ionq.quantum-results.v1')
    return Math.min(RESULT_MAX, BESIDES_SHOTS + OUTCOME_BYTES * 2 ** Math.min(qubits, 30))
  const registers = readout.registers ?? []
  const bits = registers.reduce((sum, { size }) => sum + size, 0)
  // A bit has a separator and white space around it at most; a shot of a register its quotes or brackets.
  return Math.min(RESULT_MAX, BESIDES_SHOTS + shots * (16 * registers.length + 8 * bits))
}

const readers: Record<OutputFormat, (result: Record<string, unknown>, task: Task, target: string) => Counts> = {
  'ionq.quantum-results.v1': histogramCounts,
  'honeywell.quantum-results.v1': registerCounts,
  'rigetti.quil-results.v1': memoryCounts
}

export const isOutputFormat = (format: unknown): format is OutputFormat =>
  typeof format === 'string' && Object.hasOwn(readers, format)

/** @throws Error with the reason when the results cannot be read, or are those of another program. */
export function countsOfResult(text: string, format: OutputFormat, target: string, task: Task): Counts {
  // An error of JSON's own would repeat some of the text.
  const result = parsed<Record<string, unknown>>(text)
  if (!isObject(result)) throw new Error('they are not a JSON object')
  return readers[format](result, task, target)
}

/** Shares of the shots by decimal integer, in which bit i is qubit i. */
function histogramCounts({ histogram }: Record<string, unknown>, { program, shots }: Task, target: string): Counts {
  if (!isObject(histogram)) throw new Error('they have no histogram')
  const { qubits, readout } = program
  if (readout.kind !== 'qubits') throw new Error('the program is not read by its qubits')
  const byBits = addUp(
    Object.entries(histogram).map(([key, share]) => {
      if (!/^\d+$/.test(key) || key.length > qubits) throw new Error('an outcome is not one of the program')
      if (typeof share !== 'number') throw new Error('a share is not a number')
      return [canonicalBits(bitsOfInteger(key, qubits), readout), share] as const
    })
  )
  // A quantum computer returns shares of its shots; the ideal simulator returns exact probabilities.
  const measured = isQuantumComputer(target) ? countsOfHistogram(byBits, shots) : null
  return {
    counts: Object.fromEntries(measured ?? countsOfProbabilities(byBits, shots)),
    source: measured ? 'provider_counts' : 'probability_derived',
    probabilities: Object.fromEntries(byBits)
  }
}

/** Not a register, although it stands among them. */
const NO_REGISTER = 'access_token'

/** For each register a text of its bits for each shot, the last bit first. */
function registerCounts(result: Record<string, unknown>, task: Task, target: string): Counts {
  const registers = registersOf(task.program)
  const foreign = Object.keys(result).find(
    (name) => name !== NO_REGISTER && !registers.some((one) => one.name === name)
  )
  if (foreign !== undefined) throw new Error(`they have a register ${foreign.slice(0, 40)}, which the program has not`)
  const columns = registers.map(({ name, size }) => ({ name, size, texts: listOf(result, name, task.shots) }))
  const shots = columns[0]!.texts.length
  if (columns.some(({ texts }) => texts.length !== shots))
    throw new Error('their registers have different numbers of shots')
  const counted = countsOfShots(task, shots, (shot) =>
    columns
      .map(({ name, size, texts }) => {
        const text = texts[shot]
        if (typeof text !== 'string' || text.length !== size) throw new Error(`a shot of ${name} has not ${size} bits`)
        return [...text].reverse().join('')
      })
      .join('')
  )
  return isSyntaxChecker(target) ? { ...counted, warnings: [...(counted.warnings ?? []), onlySyntax(target)] } : counted
}

const onlySyntax = (target: string): string =>
  `${target} checks the program and runs nothing: the zeros of its counts are not a result`

/** For each shot a list of the memory's cells, in their order. */
function memoryCounts(result: Record<string, unknown>, task: Task): Counts {
  const [memory, ...others] = registersOf(task.program)
  if (others.length > 0) throw new Error('the program has several regions of memory')
  const { name, size } = memory!
  const rows = listOf(result, name, task.shots)
  return countsOfShots(task, rows.length, (shot) => {
    const row = rows[shot]
    if (!Array.isArray(row) || row.length !== size) throw new Error(`a shot of ${name} has not ${size} bits`)
    if (row.some((bit) => bit !== 0 && bit !== 1)) throw new Error('a bit is neither 0 nor 1')
    return row.join('')
  })
}

function registersOf({ readout: { kind, registers } }: ProviderProgram) {
  if (kind !== 'clbits' || !registers || registers.length === 0) throw new Error('the program names no registers')
  return registers
}

function listOf(result: Record<string, unknown>, name: string, shots: number): unknown[] {
  const list = Object.hasOwn(result, name) ? result[name] : null
  if (!Array.isArray(list)) throw new Error(`they have no register ${name}`)
  if (list.length > shots) throw new Error(`they have ${list.length} shots, and ${shots} were requested`)
  if (list.length === 0) throw new Error('they have no shots')
  return list
}

/** @param bitsOf the bits of all registers in sequence, bit 0 of each first. */
function countsOfShots({ program, shots: requested }: Task, shots: number, bitsOf: (shot: number) => string): Counts {
  const counts = new Map<string, number>()
  for (let shot = 0; shot < shots; shot++) {
    // After the last register stands the bit that is always 0.
    const bits = canonicalBits(`${bitsOf(shot)}0`, program.readout)
    counts.set(bits, (counts.get(bits) ?? 0) + 1)
  }
  return {
    counts: Object.fromEntries(counts),
    source: 'provider_measurements',
    probabilities: null,
    ...(shots < requested && { warnings: [`the provider returned ${shots} of ${requested} shots`] })
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
