// Reads the program of a task. What Braket sees before it accepts a task is refused; the rest fails the task later.
import { ProgramError } from '../language/program.js'
import { type Operation, tooLarge } from '../simulator/execution.js'
import { AnalogFault, type AnalogProgram, readAnalog } from './analog.js'
import { AwsError } from './aws/replies.js'
import type { Device } from './devices.js'
import { measuredQubits, readOpenQasm } from './openqasm.js'

export type Program =
  | { kind: 'gates'; operations: readonly Operation[]; measured: readonly number[] }
  | { kind: 'analog'; analog: AnalogProgram }
  | { kind: 'failed'; failure: string }

const names = { gates: 'braket.ir.openqasm.program', analog: 'braket.ir.ahs.program' } as const

/** @throws AwsError if Braket would not accept it. */
export function readAction(text: string, device: Device): Program {
  const action = parsed(text)
  const header = action.braketSchemaHeader as { name?: unknown; version?: unknown } | undefined
  if (header?.name !== names[device.kind] || header.version !== '1')
    throw invalid(
      `Device ${device.arn} supports the action ${names[device.kind]}, version 1, and not ${String(header?.name)}`
    )
  try {
    if (device.kind === 'gates') return readGates(action, device)
    return { kind: 'analog', analog: readAnalog(action) }
  } catch (error) {
    if (error instanceof ProgramError || error instanceof AnalogFault) return { kind: 'failed', failure: error.message }
    throw error
  }
}

const invalid = (message: string): AwsError => new AwsError('ValidationException', message)

function parsed(text: string): Record<string, unknown> {
  let action: unknown
  try {
    action = JSON.parse(text)
  } catch {
    throw invalid('The action is not valid JSON.')
  }
  if (action === null || typeof action !== 'object' || Array.isArray(action))
    throw invalid('The action is not a JSON object.')
  return action as Record<string, unknown>
}

function readGates(action: Record<string, unknown>, device: Device): Program {
  const { source, inputs = null } = action
  if (typeof source !== 'string') throw invalid('The action has no source.')
  if (inputs !== null && typeof inputs !== 'object') throw invalid('The inputs of the action are not an object.')
  const program = readSource(source, device, (inputs ?? {}) as Record<string, unknown>)
  const { registers, named, physical, operations, measurements } = program
  if (device.oneRegister && (registers.qubit > 1 || registers.bit > 1))
    throw invalid(
      `Device ${device.arn} supports one qubit register and one bit register (got ${registers.qubit} and ${registers.bit}).`
    )
  const { firstQubit, qubits } = device
  const outside = named.find((qubit) => qubit < firstQubit || qubit >= firstQubit + qubits)
  if (physical && outside !== undefined) throw invalid(`Device ${device.arn} has no qubit $${outside}.`)
  if (named.length > qubits)
    throw invalid(`Qubit count ${named.length} exceeds the ${qubits} qubits of device ${device.arn}.`)
  if (named.length === 0) return { kind: 'failed', failure: 'The program has no qubits.' }
  if (physical && device.simulator)
    return { kind: 'failed', failure: 'Qubits of the machine such as $0 are not supported by simulators.' }
  if (device.measuresAll && measurements.length > 0 && measurements.length < named.length)
    return { kind: 'failed', failure: `Device ${device.arn} requires the measurement of all qubits.` }
  const large = tooLarge(operations)
  if (large) return { kind: 'failed', failure: large.message }
  return { kind: 'gates', operations, measured: measuredQubits(program) }
}

function readSource(source: string, device: Device, inputs: Record<string, unknown>) {
  try {
    return readOpenQasm(source, { operations: device.operations, natives: device.nativeGates }, inputs)
  } catch (error) {
    if (error instanceof ProgramError && error.unknownGate) throw invalid(error.message)
    throw error
  }
}
