// Reads the circuits of a job: OpenQASM 3 in the instructions of one device (ISA). IBM accepts every text, and a circuit that
// the device does not have fails the job.
import { fixed, general, rotation } from '../language/gates.js'
import { type Gate, ProgramError, type ReadProgram } from '../language/program.js'
import { type Dialect, readProgram } from '../language/reader.js'
import { type Operation, tooLarge } from '../simulator/execution.js'
import type { Device } from './devices.js'
import { codes } from './errors.js'

/** Why a job cannot run. */
export interface JobFailure {
  readonly reason: string
  /** Of IBM's registry; null for what only this emulator cannot do. */
  readonly code: number | null
}

/** A bit of a result, and the qubit that was measured into it last. */
interface Write {
  register: number
  bit: number
  qubit: number
}

export interface Program {
  operations: readonly Operation[]
  /** In the order of their declarations; a bit that nothing is measured into stays zero. */
  registers: readonly { name: string; size: number }[]
  writes: readonly Write[]
}

/** What the device would not do with a circuit. */
class NotIsa extends Error {}

/**
 * @param index the number of the circuit in its job.
 * @returns why it cannot run, if so.
 */
export function readCircuit(source: string, device: Device, index: number): Program | JobFailure {
  try {
    const read = readProgram(source, {
      ...dialect,
      gates: gatesOf(device),
      gatesFrom: `in the basis of ${device.name}`
    })
    checkTarget(read, device)
    const large = tooLarge(read.operations)
    if (large) return { reason: `Circuit ${index}: ${large.message}`, code: null }
    return { operations: read.operations, registers: read.bitRegisters, writes: writesOf(read) }
  } catch (error) {
    if (error instanceof NotIsa || (error instanceof ProgramError && error.unknownGate))
      return { reason: notIsa(index, error.message), code: codes.notIsa }
    if (error instanceof ProgramError) return { reason: `Circuit ${index}: ${error.message}`, code: null }
    throw error
  }
}

const notIsa = (index: number, detail: string): string =>
  `Circuits do not match the target definition (non-ISA circuits). -- Circuit ${index}: ${detail} -- \n` +
  'Transpile your circuits for the target before submitting a primitive query. For more information, visit ' +
  `https://ibm.biz/error_codes#${codes.notIsa}`

/** Like Qiskit, the device takes the number of a declared qubit for that of a qubit of the machine. */
function checkTarget({ named, operations, physical }: ReadProgram, device: Device): void {
  if (!physical && named.length > device.qubits)
    throw new NotIsa(`The circuit has ${named.length} qubits but ${device.name} has ${device.qubits}.`)
  const outside = named.find((qubit) => qubit >= device.qubits)
  if (outside !== undefined) throw new NotIsa(`${device.name} has no qubit ${outside}.`)
  for (const { controls, targets } of operations) {
    const [first, second] = [...controls, ...targets]
    if (second !== undefined && !device.isCoupled(first!, second))
      throw new NotIsa(`The instruction cz on qubits (${first}, ${second}) is not supported by the target system.`)
  }
}

function writesOf({ measurements, bitRegisters }: ReadProgram): Write[] {
  const last = new Map<string, Write>()
  for (const { qubit, bit } of measurements) {
    if (!bit) continue
    const register = bitRegisters.findIndex(({ name }) => name === bit.register)
    last.set(`${register} ${bit.element}`, { register, bit: bit.element, qubit: qubit.index })
  }
  return [...last.values()]
}

const gates: Readonly<Record<string, Gate>> = {
  cz: fixed('z', 1),
  id: general(0, () => [0, 0, 0]),
  rz: rotation(['Z']),
  sx: fixed('v'),
  x: fixed('x')
}

const gatesOf = ({ basis }: Device): Record<string, Gate> =>
  Object.fromEntries(Object.entries(gates).filter(([name]) => basis.has(name)))

const dialect: Omit<Dialect, 'gates' | 'gatesFrom'> = {
  ignored: /^(OPENQASM 3(\.\d+)?|include "stdgates\.inc")$/,
  physicalQubits: true,
  bareMeasurements: true,
  inputs: null,
  // The machine measures any qubit into any bits.
  checkMeasurement() {}
}
