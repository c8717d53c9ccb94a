// The gates that programs call by name, as operations of the closed set. The phases are those of the server's gates.
import type { GateName } from '../../circuit/circuit.js'
import { type Gate, type Part, part } from './part.js'

export interface StandardGate {
  params: number
  qubits: number
  /** How many of its qubits, from the first, are controls. */
  controls: number
  make: (angles: readonly number[]) => Gate
}

const HALF_PI = Math.PI / 2

const H0 = part('h', [], [], 0)
const H1 = part('h', [], [], 1)
const CX01 = part('x', [], [0], 1)
const T = (target: number) => part('t', [], [], target)
const TDG = (target: number) => part('tdg', [], [], target)
const CX = (control: number, target: number) => part('x', [], [control], target)

function gate(params: number, qubits: number, controls: number, parts: (...angles: number[]) => Part[]): StandardGate {
  return {
    params,
    qubits,
    controls,
    make: (angles) => ({ qubits, parts: parts(...angles), scales: false, hasBarrier: false })
  }
}

/** One operation of the closed set, under so many controls. */
function simple(name: GateName, params: number, controls = 0): StandardGate {
  const places = Array.from({ length: controls }, (_, place) => place)
  return gate(params, controls + 1, controls, (...angles) => [part(name, angles, places, controls)])
}

/** A gate whose powers multiply its angle. */
function scaling(
  name: 'p' | 'rx' | 'ry' | 'rz' | 'z' | 's' | 'sdg' | 't' | 'tdg',
  params = 1,
  controls = 0
): StandardGate {
  const plain = simple(name, params, controls)
  return { ...plain, make: (angles) => ({ ...plain.make(angles), scales: true }) }
}

/** e^(i angle) of the whole state, under a control: the phase of `cu`. */
const phase = (angle: number): Part => part('gphase', [angle], [0])

const turnZZ = (angle: number): Part[] => [CX01, part('rz', [angle], [], 1), CX01]

const everywhere = {
  id: simple('id', 0),
  x: simple('x', 0),
  y: simple('y', 0),
  z: scaling('z', 0),
  h: simple('h', 0),
  s: scaling('s', 0),
  sdg: scaling('sdg', 0),
  t: scaling('t', 0),
  tdg: scaling('tdg', 0),
  sx: simple('sx', 0),
  rx: scaling('rx'),
  ry: scaling('ry'),
  rz: scaling('rz'),
  p: scaling('p'),
  u1: simple('p', 1),
  u2: gate(2, 1, 0, (phi, lambda) => [part('u', [HALF_PI, phi!, lambda!], [], 0)]),
  u3: simple('u', 3),
  cx: simple('x', 0, 1),
  cy: simple('y', 0, 1),
  cz: simple('z', 0, 1),
  ch: simple('h', 0, 1),
  cp: scaling('p', 1, 1),
  crx: simple('rx', 1, 1),
  cry: simple('ry', 1, 1),
  crz: simple('rz', 1, 1),
  cu: gate(4, 2, 1, (theta, phi, lambda, gamma) => [phase(gamma!), part('u', [theta!, phi!, lambda!], [0], 1)]),
  swap: gate(0, 2, 0, () => [part('swap', [], [], 0, 1)]),
  ccx: simple('x', 0, 2),
  cswap: gate(0, 3, 1, () => [part('swap', [], [0], 1, 2)])
} satisfies Record<string, StandardGate>

/** The gate of the language itself. The server reads it without the phase that some revisions give it. */
export const builtInU = simple('u', 3)
export const builtInCX = simple('x', 0, 1)

/** "stdgates.inc" of version 3. */
export const stdgates: Readonly<Record<string, StandardGate>> = {
  ...everywhere,
  CX: builtInCX,
  phase: scaling('p'),
  cphase: scaling('p', 1, 1)
}

/** Of version 2: gates that need the include of "qelib1.inc". */
const included = new Set('u3 u2 u1 cx id x y z h s sdg t tdg rx ry rz cz cy ch ccx crz cu1 cu3'.split(' '))

const beyondPaper: Record<string, StandardGate> = {
  u0: {
    ...gate(1, 1, 0, () => []),
    make: ([times = 0]) => ({
      qubits: 1,
      parts: Array.from({ length: Math.max(0, times) }, () => part('id', [], [], 0)),
      scales: false,
      hasBarrier: false
    })
  },
  u: simple('u', 3),
  sxdg: simple('sxdg', 0),
  csx: simple('sx', 0, 1),
  cu1: simple('p', 1, 1),
  cu3: simple('u', 3, 1),
  rxx: gate(1, 2, 0, (angle) => [H0, H1, ...turnZZ(angle!), H0, H1]),
  rzz: gate(1, 2, 0, (angle) => turnZZ(angle!)),
  rccx: gate(0, 3, 0, () => [
    part('h', [], [], 2),
    T(2),
    CX(1, 2),
    TDG(2),
    CX(0, 2),
    T(2),
    CX(1, 2),
    TDG(2),
    part('h', [], [], 2)
  ]),
  rc3x: gate(0, 4, 0, () => [
    part('h', [], [], 3),
    T(3),
    CX(2, 3),
    TDG(3),
    part('h', [], [], 3),
    CX(0, 3),
    T(3),
    CX(1, 3),
    TDG(3),
    CX(0, 3),
    T(3),
    CX(1, 3),
    TDG(3),
    part('h', [], [], 3),
    T(3),
    CX(2, 3),
    TDG(3),
    part('h', [], [], 3)
  ]),
  c3x: simple('x', 0, 3),
  c3sqrtx: simple('sx', 0, 3),
  c4x: simple('x', 0, 4)
}

const version2 = Object.entries({ ...everywhere, ...beyondPaper } as Record<string, StandardGate>)

/** The gates of "qelib1.inc" as the paper has them. */
export const qelib1: ReadonlyMap<string, StandardGate> = new Map(version2.filter(([name]) => included.has(name)))

/** The gates that Qiskit's exporter writes beyond them, known without any include. */
export const exporterGates: ReadonlyMap<string, StandardGate> = new Map(
  version2.filter(([name]) => !included.has(name))
)
