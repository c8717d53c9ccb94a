// The part of OpenQASM 3 that this emulator reads for jobs of type ionq.qasm3.v1: registers, gates of stdgates.inc, barriers,
// and a final measurement of qubit k into bit k. Anything else fails the job with its line.
import { fixed, general, ofMatrix, phase, rotation } from '../language/gates.js'
import { type Gate, ProgramError } from '../language/program.js'
import { type Dialect, readProgram } from '../language/reader.js'
import { swap } from '../simulator/gates.js'
import type { Program } from './circuit.js'
import type { Device } from './devices.js'
import { JobFailure } from './failure.js'

/** Reads a program for a device. @throws JobFailure naming the line. */
export function readQasm(source: string, device: Device): Program {
  const { qubits, operations } = readOrFail(source)
  if (qubits > device.qubits)
    throw new JobFailure('NotEnoughQubits', `The program needs ${qubits} qubits, ${device.name} has ${device.qubits}.`)
  if (qubits === 0) throw new JobFailure('CompilationError', 'The program has no qubits.')
  return { qubits, operations }
}

function readOrFail(source: string) {
  try {
    return readProgram(source, dialect)
  } catch (error) {
    if (error instanceof ProgramError) throw new JobFailure('CompilationError', error.message)
    throw error
  }
}

const gates: Record<string, Gate> = {
  x: fixed('x'),
  y: fixed('y'),
  z: fixed('z'),
  h: fixed('h'),
  s: fixed('s'),
  sdg: fixed('si'),
  t: fixed('t'),
  tdg: fixed('ti'),
  sx: fixed('v'),
  id: general(0, () => [0, 0, 0]),
  rx: rotation(['X']),
  ry: rotation(['Y']),
  rz: rotation(['Z']),
  p: phase(),
  phase: phase(),
  u1: phase(),
  u2: general(2, ([phi, lambda]) => [Math.PI / 2, phi!, lambda!]),
  u3: general(3, ([theta, phi, lambda]) => [theta!, phi!, lambda!]),
  U: general(3, ([theta, phi, lambda]) => [theta!, phi!, lambda!]),
  cx: fixed('x', 1),
  CX: fixed('x', 1),
  cy: fixed('y', 1),
  cz: fixed('z', 1),
  ch: fixed('h', 1),
  cp: phase(1),
  cphase: phase(1),
  crx: rotation(['X'], 1),
  cry: rotation(['Y'], 1),
  crz: rotation(['Z'], 1),
  ccx: fixed('x', 2),
  swap: ofMatrix(0, 2, () => swap),
  cswap: ofMatrix(0, 2, () => swap, 1)
}

const dialect: Dialect = {
  gates,
  ignored: /^(OPENQASM 3(\.\d+)?|include "stdgates.inc")$/,
  gatesFrom: 'in stdgates.inc that this emulator knows',
  physicalQubits: false,
  bareMeasurements: false,
  inputs: null,
  // The keys of a result with bits and qubits in another order are not documented, so such programs are refused.
  checkMeasurement({ qubit, bit }) {
    if (bit?.index !== qubit.index)
      throw new Error(`qubit ${qubit.index} is measured into bit ${bit?.index}, not into its own`)
  }
}
