// Braket's dialect of OpenQASM 3: gates without an include, qubits of the machine, `input` declarations, measurements into
// any bit. Unmeasured programs measure every qubit, as at Braket.
import { fixed, general, ofMatrix, phase, polar, rotation } from '../language/gates.js'
import { type Gate, type Measurement, ProgramError, type ReadProgram } from '../language/program.js'
import { type Dialect, readProgram } from '../language/reader.js'
import { withoutComments } from '../language/statements.js'
import { gpi, gpi2, molmerSorensen, swap } from '../simulator/gates.js'
import type { Complex, Matrix } from '../simulator/state-vector.js'

/**
 * Reads a program with the gates of a device.
 * @param natives the gates that a verbatim box adds; none: the device has no such boxes.
 * @throws ProgramError naming the line.
 */
export function readOpenQasm(
  source: string,
  { operations, natives }: { operations: readonly string[]; natives: readonly string[] },
  inputs: Readonly<Record<string, unknown>>
): ReadProgram {
  const { code, verbatim } = withoutPragmas(source, natives.length > 0)
  const offered = [...operations, ...(verbatim ? natives : [])]
  const own = Object.fromEntries(Object.entries(gates).filter(([name]) => offered.includes(name)))
  return readProgram(code, { ...dialect, gates: own, inputs })
}

/** The qubits of a result's columns: those of the bits in their order, or all if none is measured. */
export function measuredQubits({ measurements, named }: ReadProgram): readonly number[] {
  if (measurements.length === 0) return named
  return [...measurements].sort((a, b) => (a.bit?.element ?? 0) - (b.bit?.element ?? 0)).map(({ qubit }) => qubit.index)
}

// A verbatim box becomes its content: every circuit here runs as it is written.
function withoutPragmas(source: string, boxes: boolean): { code: string; verbatim: boolean } {
  const plain = withoutComments(source)
  const code = boxes ? plain.replace(verbatimBox, '\n$1$2') : plain
  const pragma = /^[ \t]*#?pragma\b.*$/m.exec(code)
  if (!pragma) return { code, verbatim: code !== plain }
  const line = code.slice(0, pragma.index).split('\n').length
  throw new ProgramError(line, `this emulator does not know "${pragma[0].trim().slice(0, 60)}" on this device`)
}

const verbatimBox = /#pragma[ \t]+braket[ \t]+verbatim[ \t]*\n(\s*)box\s*\{([^{}]*)\}/g

function checkMeasurement({ qubit, bit }: Measurement, earlier: readonly Measurement[]): void {
  if (earlier.some((one) => one.qubit.index === qubit.index)) throw new Error(`qubit ${qubit.index} is measured twice`)
  if (earlier.some((one) => one.bit?.register !== bit?.register))
    throw new Error('the measurements go into more than one register of bits')
  if (bit && earlier.some((one) => one.bit?.element === bit.element))
    throw new Error(`two qubits are measured into ${bit.register}[${bit.element}]`)
}

const zero: Complex = [0, 0]
const one: Complex = [1, 0]
const half = Math.SQRT1_2

/** One on the diagonal but for the given entries. */
const diagonalOf = (entries: Readonly<Record<number, Complex>>): Matrix =>
  [0, 1, 2, 3].map((row) => [0, 1, 2, 3].map((column) => (row === column ? (entries[row] ?? one) : zero)))

/** The identity on 00 and 11, and a matrix of two rows between 01 and 10. */
const between = ([[a, b], [c, d]]: readonly [readonly [Complex, Complex], readonly [Complex, Complex]]): Matrix => [
  [one, zero, zero, zero],
  [zero, a, b, zero],
  [zero, c, d, zero],
  [zero, zero, zero, one]
]
const shiftOf = (row: number): Gate => ofMatrix(1, 2, ([angle]) => diagonalOf({ [row]: polar(1, angle!) }))
const i: Complex = [0, half]
const minusI: Complex = [0, -half]
const real: Complex = [half, 0]
const turns = (radians: number): number => radians / (2 * Math.PI)

const gates: Readonly<Record<string, Gate>> = {
  i: general(0, () => [0, 0, 0]),
  x: fixed('x'),
  y: fixed('y'),
  z: fixed('z'),
  h: fixed('h'),
  s: fixed('s'),
  si: fixed('si'),
  t: fixed('t'),
  ti: fixed('ti'),
  v: fixed('v'),
  vi: fixed('vi'),
  rx: rotation(['X']),
  ry: rotation(['Y']),
  rz: rotation(['Z']),
  phaseshift: phase(),
  U: general(3, ([theta, phi, lambda]) => [theta!, phi!, lambda!]),
  gpi: ofMatrix(1, 1, ([phi]) => gpi(turns(phi!))),
  gpi2: ofMatrix(1, 1, ([phi]) => gpi2(turns(phi!))),
  prx: ofMatrix(2, 1, ([theta, phi]) => {
    const [cos, sin] = [Math.cos(theta! / 2), Math.sin(theta! / 2)]
    return [
      [polar(cos, 0), polar(sin, -phi! - Math.PI / 2)],
      [polar(sin, phi! - Math.PI / 2), polar(cos, 0)]
    ]
  }),
  cnot: fixed('x', 1),
  cy: fixed('y', 1),
  cz: fixed('z', 1),
  cv: fixed('v', 1),
  ccnot: fixed('x', 2),
  swap: ofMatrix(0, 2, () => swap),
  cswap: ofMatrix(0, 2, () => swap, 1),
  cphaseshift: phase(1),
  cphaseshift00: shiftOf(0),
  cphaseshift01: shiftOf(1),
  cphaseshift10: shiftOf(2),
  xx: rotation(['X', 'X']),
  yy: rotation(['Y', 'Y']),
  zz: rotation(['Z', 'Z']),
  xy: ofMatrix(1, 2, ([angle]) => {
    const [cos, sin] = [Math.cos(angle! / 2), Math.sin(angle! / 2)]
    return between([
      [
        [cos, 0],
        [0, sin]
      ],
      [
        [0, sin],
        [cos, 0]
      ]
    ])
  }),
  iswap: ofMatrix(0, 2, () =>
    between([
      [zero, [0, 1]],
      [[0, 1], zero]
    ])
  ),
  pswap: ofMatrix(1, 2, ([angle]) =>
    between([
      [zero, polar(1, angle!)],
      [polar(1, angle!), zero]
    ])
  ),
  ecr: ofMatrix(0, 2, () => [
    [zero, zero, real, i],
    [zero, zero, i, real],
    [real, minusI, zero, zero],
    [minusI, real, zero, zero]
  ]),
  ms: ofMatrix(3, 2, ([phi0, phi1, theta]) => molmerSorensen(turns(phi0!), turns(phi1!), turns(theta!)))
}

const dialect: Omit<Dialect, 'gates' | 'inputs'> = {
  ignored: /^OPENQASM 3(\.\d+)?$/,
  gatesFrom: 'on this device',
  physicalQubits: true,
  bareMeasurements: true,
  checkMeasurement
}
