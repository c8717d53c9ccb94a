// Reads the program of a job once it is accepted: everything that is wrong with it fails the job, as at Azure, where the service
// itself never looks into a program.
import { readCircuit, type WireCircuit } from '../../ionq/circuit.js'
import { JobFailure } from '../../ionq/failure.js'
import { readJob } from '../../ionq/job-schema.js'
import { assertRunnable } from '../../ionq/run.js'
import { ProgramError } from '../../language/program.js'
import { tooLarge } from '../../simulator/execution.js'
import type { JobRequest } from '../job.js'
import type { Blob } from '../storage/blobs.js'
import type { Target } from '../targets.js'
import { tooLong } from './mid-circuit.js'
import { type GateProgram, type Program, ProgramFailure } from './program.js'
import { readQasm2 } from './qasm2.js'
import { readQuil } from './quil.js'

/** @param blob the content of the request's input; null if there is none. */
export function readProgram(request: JobRequest, target: Target, blob: Blob | null): Program {
  try {
    assertFormats(request, target)
    const shots = shotsOf(request.inputParams ?? {}, target)
    const text = textOf(blob)
    if (target.provider === 'ionq') return { kind: 'ionq', ionq: readIonq(text, target), shots }
    const gates = target.provider === 'rigetti' ? readQuil(text) : readQasm2(text)
    assertFits(gates, shots, target)
    return { kind: 'gates', gates, shots }
  } catch (error) {
    if (error instanceof ProgramFailure || error instanceof JobFailure)
      return { kind: 'failed', failure: { code: error.code, message: error.message } }
    if (error instanceof ProgramError)
      return { kind: 'failed', failure: { code: 'CompilationError', message: error.message } }
    throw error
  }
}

function assertFormats({ inputDataFormat, outputDataFormat }: JobRequest, target: Target): void {
  const { id, inputFormat, outputFormat } = target
  if (inputDataFormat !== inputFormat || outputDataFormat !== outputFormat)
    throw new ProgramFailure(
      'InvalidInputData',
      `${id} takes ${inputFormat} and returns ${outputFormat} here (got ${inputDataFormat} and ${outputDataFormat}).`
    )
}

/** The parameters that change no outcome here; each other one is refused by name. */
const harmless: Record<Target['provider'], readonly string[]> = {
  ionq: ['error-mitigation'],
  quantinuum: ['nocheck'],
  rigetti: ['skipQuilc']
}

function shotsOf(given: Record<string, unknown>, { id, provider, shotsMax }: Target): number {
  const names = provider === 'rigetti' ? ['shots', 'count'] : ['shots']
  const unknown = Object.keys(given).find((name) => !names.includes(name) && !harmless[provider].includes(name))
  if (unknown !== undefined)
    throw new ProgramFailure('InvalidInputData', `inputParams.${unknown}: this emulator does not know it for ${id}`)
  const values = [...new Set(names.flatMap((name) => (given[name] === undefined ? [] : [given[name]])))]
  const [shots] = values
  if (values.length !== 1 || !Number.isInteger(shots) || Number(shots) < 1 || Number(shots) > shotsMax)
    throw new ProgramFailure(
      'InvalidInputData',
      `inputParams.shots: must be one whole number from 1 to ${shotsMax} for ${id} (got ${JSON.stringify(values)})`
    )
  return Number(shots)
}

function textOf(blob: Blob | null): string {
  if (!blob) throw new ProgramFailure('InvalidInputData', 'The input data of the job is not in the storage.')
  if (blob.encoding !== null)
    throw new ProgramFailure(
      'InvalidInputData',
      `This emulator reads input data without a content encoding (got ${blob.encoding}).`
    )
  return blob.body.toString('utf8')
}

function readIonq(text: string, { id, qubits, kind }: Target) {
  const device = {
    name: id,
    qubits,
    status: 'available' as const,
    exact: kind === 'exact',
    nativeGates: kind === 'exact' ? [...nativeGates, 'ms'] : nativeGates
  }
  const program = readCircuit(circuitOf(text), device)
  assertRunnable(program)
  return program
}

/** Those of Forte; the simulator takes one more. */
const nativeGates = ['gpi', 'gpi2', 'zz', 'nop']

/** The fields are those of a job of IonQ's own, but `gateset` may be left out. */
function circuitOf(text: string): WireCircuit {
  let input: unknown
  try {
    input = JSON.parse(text)
  } catch {
    throw new ProgramFailure('InvalidInputData', 'The input data is not valid JSON.')
  }
  if (input === null || typeof input !== 'object' || Array.isArray(input))
    throw new ProgramFailure('InvalidInputData', 'The input data is not a JSON object.')
  const read = readJob({ type: 'ionq.circuit.v1', backend: 'azure', input: { gateset: 'qis', ...input } })
  if ('refusal' in read) throw new ProgramFailure('InvalidInputData', read.refusal.message)
  return (read as { input: WireCircuit }).input
}

/** Bounds the memory of a result. */
const bitsOfAllShotsMax = 20_000_000

function assertFits(gates: GateProgram, shots: number, { id, qubits }: Target): void {
  const { operations, registers } = gates
  if (gates.qubits > qubits)
    throw new ProgramFailure('NotEnoughQubits', `The program has ${gates.qubits} qubits, ${id} has ${qubits}.`)
  if (registers.every(({ cells }) => cells.every((qubit) => qubit === null)))
    throw new ProgramFailure('CompilationError', 'The program measures nothing.')
  const bits = registers.reduce((sum, { cells }) => sum + cells.length, 0)
  if (bits * shots > bitsOfAllShotsMax)
    throw new ProgramFailure('SimulationError', `${bits} bits in ${shots} shots are more than this emulator returns.`)
  const large = tooLarge(operations) ?? (gates.steps && tooLong(gates.steps, shots))
  if (large) throw new ProgramFailure('SimulationError', large.message)
}
