// Translates IonQ's JSON circuits into operations of the simulator. Qubit k is bit k; every qubit is measured at the end.
import type { Operation } from '../simulator/execution.js'
import { fixedGates, gpi, gpi2, molmerSorensen, swap } from '../simulator/gates.js'
import type { Matrix, Pauli } from '../simulator/state-vector.js'
import { type Machine, qisGates } from './devices.js'
import { JobFailure } from './failure.js'

/** A gate as sent by the client. `readGate` checks which of these fields a gate needs. */
export interface WireGate {
  gate: string
  target?: number
  targets?: number[]
  control?: number
  controls?: number[]
  rotation?: number
  terms?: string[]
  coefficients?: number[]
  time?: number
  phase?: number
  phases?: number[]
  angle?: number
}

export interface WireCircuit {
  qubits?: number
  gateset: 'qis' | 'native'
  circuit: WireGate[]
}

/** A program that is ready to run: all its qubits are below `qubits`. */
export interface Program {
  qubits: number
  operations: Operation[]
}

/** IonQ's own limit on the controls of one gate. */
const controlsMax = 7
const gatesMax = 150_000

/** Reads a circuit for a device. @throws JobFailure naming the gate's position. */
export function readCircuit({ qubits, gateset, circuit }: WireCircuit, device: Machine): Program {
  if (circuit.length > gatesMax)
    throw new JobFailure('TooManyGates', `${circuit.length} gates are more than the ${gatesMax} of a job.`)
  const count = qubits ?? highestQubit(circuit) + 1
  if (count > device.qubits)
    throw new JobFailure('NotEnoughQubits', `The circuit needs ${count} qubits, ${device.name} has ${device.qubits}.`)
  const read = gateset === 'qis' ? readQisGate : readNativeGate
  const operations = circuit.flatMap((gate, index) => {
    const place = new GatePlace(gate, index, count, device)
    return read(place)
  })
  return { qubits: count, operations }
}

const highestQubit = (circuit: readonly WireGate[]): number =>
  circuit
    .flatMap(({ target, control, targets = [], controls = [] }) => [target ?? 0, control ?? 0, ...targets, ...controls])
    .reduce((highest, qubit) => Math.max(highest, qubit), 0)

/** One gate with its position in the circuit, for messages and the checks that all gates share. */
class GatePlace {
  constructor(
    readonly gate: WireGate,
    private readonly index: number,
    private readonly qubits: number,
    readonly device: Machine
  ) {}

  fail(message: string, code: JobFailure['code'] = 'InvalidInput'): never {
    throw new JobFailure(code, `circuit[${this.index}] (${this.gate.gate}): ${message}`)
  }

  /** Exactly `count` targets, or at least one. */
  targets(count: number | 'any'): number[] {
    const targets = this.qubitsOf('target', 'targets')
    if (targets.length === 0) this.fail('it has no target.')
    if (count !== 'any' && targets.length !== count)
      this.fail(`it takes ${count} target${count > 1 ? 's' : ''}, not ${targets.length}.`)
    return targets
  }

  controls(): number[] {
    const controls = this.qubitsOf('control', 'controls')
    if (controls.length > controlsMax)
      this.fail(`${controls.length} controls are more than the ${controlsMax} of a gate.`, 'TooManyControls')
    const targets = this.qubitsOf('target', 'targets')
    const twice = controls.find((qubit) => targets.includes(qubit))
    if (twice !== undefined) this.fail(`qubit ${twice} is both target and control.`)
    return controls
  }

  number(key: 'rotation' | 'phase' | 'angle' | 'time'): number {
    const value = this.gate[key]
    if (value === undefined) this.fail(`it needs ${key}.`)
    return value
  }

  /** Refuses a value that does not belong to the gate instead of ignoring it. */
  only(...keys: (keyof WireGate)[]): void {
    const known = new Set<string>(['gate', 'target', 'targets', ...keys])
    const stray = Object.keys(this.gate).find((key) => !known.has(key))
    if (stray !== undefined) this.fail(`it takes no ${stray}.`)
  }

  private qubitsOf(one: 'target' | 'control', many: 'targets' | 'controls'): number[] {
    const single = this.gate[one]
    const several = this.gate[many]
    if (single !== undefined && several !== undefined) this.fail(`it has both ${one} and ${many}.`)
    const qubits = single === undefined ? (several ?? []) : [single]
    const outside = qubits.find((qubit) => !Number.isInteger(qubit) || qubit < 0 || qubit >= this.qubits)
    if (outside !== undefined) this.fail(`unknown qubit ${outside} in a circuit of ${this.qubits}.`)
    if (new Set(qubits).size < qubits.length) this.fail(`${many} names a qubit twice.`)
    return qubits
  }
}

const axes: Record<string, readonly Pauli[]> = {
  rx: ['X'],
  ry: ['Y'],
  rz: ['Z'],
  xx: ['X', 'X'],
  yy: ['Y', 'Y'],
  zz: ['Z', 'Z']
}
const matrices: Record<string, Matrix> = { ...fixedGates, not: fixedGates.x, cnot: fixedGates.x }

function readQisGate(place: GatePlace): Operation[] {
  const { gate } = place.gate
  if (!(qisGates as readonly string[]).includes(gate))
    place.fail('the gateset qis has no such gate.', 'UnsupportedGate')
  if (gate === 'pauliexp') return readPauliExponential(place)
  const paulis = axes[gate]
  place.only('control', 'controls', ...(paulis ? (['rotation'] as const) : []))
  const controls = place.controls()
  if (gate === 'swap') return [{ matrix: swap, targets: place.targets(2), controls }]
  if (gate === 'cnot' && controls.length === 0) place.fail('it has no control.')
  if (!paulis) return place.targets('any').map((target) => ({ matrix: matrices[gate]!, targets: [target], controls }))
  // A rotation by an angle is exp(-i angle/2 P).
  const angle = place.number('rotation') / 2
  if (paulis.length === 2) return [{ paulis, angle, targets: place.targets(2), controls }]
  return place.targets('any').map((target) => ({ paulis, angle, targets: [target], controls }))
}

// One factor per term, in order: exp(-i coefficient time P); character i of a term acts on targets[i].
function readPauliExponential(place: GatePlace): Operation[] {
  place.only('terms', 'coefficients', 'time')
  const targets = place.targets('any')
  const { terms = [], coefficients = [] } = place.gate
  const time = place.number('time')
  if (!(time > 0)) place.fail('its time must be above 0.')
  if (terms.length === 0) place.fail('it needs terms.')
  if (coefficients.length !== terms.length) place.fail('it needs as many coefficients as terms.')
  return terms.map((term, index) => {
    if (!/^[IXYZ]+$/.test(term) || term.length !== targets.length)
      place.fail(`terms[${index}] must be ${targets.length} of the letters I, X, Y, Z.`)
    return { paulis: [...term] as Pauli[], angle: coefficients[index]! * time, targets, controls: [] }
  })
}

// Phases and angles in turns.
function readNativeGate(place: GatePlace): Operation[] {
  const { gate } = place.gate
  if (!place.device.nativeGates.includes(gate))
    place.fail(
      `${place.device.name} has no such native gate (it has ${place.device.nativeGates.join(', ')}).`,
      'UnsupportedGate'
    )
  switch (gate) {
    case 'gpi':
    case 'gpi2': {
      place.only('phase')
      const matrix = (gate === 'gpi' ? gpi : gpi2)(place.number('phase'))
      return [{ matrix, targets: place.targets(1), controls: [] }]
    }
    case 'ms': {
      place.only('phases', 'angle')
      const { phases = [], angle = 0.25 } = place.gate
      if (phases.length !== 2) place.fail('it needs two phases.')
      return [{ matrix: molmerSorensen(phases[0]!, phases[1]!, angle), targets: place.targets(2), controls: [] }]
    }
    case 'zz':
      place.only('angle')
      return [{ paulis: ['Z', 'Z'], angle: Math.PI * place.number('angle'), targets: place.targets(2), controls: [] }]
    default:
      // nop only lets time pass.
      place.only('time')
      place.targets('any')
      place.number('time')
      return []
  }
}
