// Reads the results of a job: by classical register, one hexadecimal number for each shot, whose bit k is bit k of the register.
import { addUp, bitsOfInteger, canonicalBits, type Readout } from '../../../domain/backends/provider-counts.js'
import type { ProviderJobCounts, ProviderProgram } from '../adapter.js'
import { type Answer, isAnswer, partOf } from './answers.js'

interface Task {
  program: ProviderProgram
  shots: number
}

interface Register {
  name: string
  size: number
}

/** @throws Error with the reason when the results cannot be read, or are those of another program. */
export function countsOfResult(
  text: string,
  { program: { readout }, shots }: Task
): Pick<ProviderJobCounts, 'counts' | 'source' | 'probabilities'> {
  const { registers = [] } = readout
  if (readout.kind !== 'clbits' || registers.length === 0) throw new Error('the program does not name its registers')
  const data = dataOf(JSON.parse(text))
  const foreign = Object.keys(data).find((name) => !registers.some((register) => register.name === name))
  if (foreign !== undefined)
    throw new Error(`they have a register ${foreign.slice(0, 40)}, which the program does not have`)
  const samples = registers.map((register) => samplesOf(data, register, shots))
  const seen = new Map<string, number>()
  for (let shot = 0; shot < shots; shot++) {
    const outcome = samples.map((values) => values[shot]).join(' ')
    seen.set(outcome, (seen.get(outcome) ?? 0) + 1)
  }
  const canonical = canonicalizer(readout)
  const counts = addUp([...seen].map(([outcome, count]) => [canonical(bitsOf(outcome, registers)), count] as const))
  return { counts: Object.fromEntries(counts), source: 'provider_measurements', probabilities: null }
}

/** The registers of the one circuit. */
function dataOf(result: unknown): Answer {
  if (!isAnswer(result)) throw new Error('they are not an object')
  const { results, __type__: type } = result
  if (type !== undefined)
    throw new Error("they are in Qiskit's own form (support_qiskit: true), and JSON was requested")
  if (!Array.isArray(results) || results.length !== 1) throw new Error('they are not those of one circuit')
  return partOf(partOf(results[0]).data)
}

function samplesOf(data: Answer, { name, size }: Register, shots: number): string[] {
  const { samples, num_bits } = partOf(Object.hasOwn(data, name) ? data[name] : null)
  if (!Array.isArray(samples)) throw new Error(`they have no samples of the register ${name}`)
  if (num_bits !== size) throw new Error(`the register ${name} has another number of bits than the program's ${size}`)
  if (samples.length !== shots)
    throw new Error(`they have ${samples.length} samples of the register ${name}, and ${shots} were requested`)
  // A number of that length has no more bits than the register, and some zeros before it.
  const lengthMax = 10 + Math.ceil(size / 4)
  for (const sample of samples)
    if (typeof sample !== 'string' || sample.length > lengthMax || !/^0x[0-9a-f]+$/i.test(sample))
      throw new Error(`a sample of the register ${name} is not a hexadecimal number of ${size} bits`)
  return samples
}

/** The compiler's own order is the canonical one: then nothing is copied, of up to a hundred thousand different outcomes. */
function canonicalizer(readout: Readout): (own: string) => string {
  const { bits } = readout
  const isInOrder = bits.every((bit, at) => bit === at)
  return (own) => (isInOrder && own.length === bits.length ? own : canonicalBits(own, readout))
}

/** The bits of all registers, bit 0 of each first. */
const bitsOf = (outcome: string, registers: readonly Register[]): string =>
  outcome
    .split(' ')
    .map((sample, at) => bitsOfInteger(sample, registers[at]!.size))
    .join('')
