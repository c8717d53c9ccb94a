// Validates the noise model of a job (`params.noise_model`) before anything is recorded. The executor validates it
// again against the circuit.
import { validationError } from '../../errors.js'

const fields = ['like', 'gate_errors', 'readout_errors', 't1_us', 't2_us', 'gate_times_ns'] as const
/**
 * The backends whose published figures `like` can name. The figures are in
 * apps/executor/qjs_executor/device_figures.json.
 */
export const devicesWithFigures = ['ionq-forte-1', 'ionq-direct-forte-1', 'iqm-garnet', 'rigetti-ankaa-3'] as const
/** Those whose figures have an error of readout. */
export const devicesWithReadoutFigures = ['ionq-forte-1', 'ionq-direct-forte-1', 'iqm-garnet'] as const
const readoutFields = ['p0_given1', 'p1_given0'] as const
const MICROSECONDS_MAX = 1e9
const NANOSECONDS_MAX = 1e9
const GATE = /^[A-Za-z_]\w{0,99}$/
const GATE_ON_QUBITS = /^[A-Za-z_]\w{0,99}(@(\d{1,4})(,\d{1,4}){0,9})?$/
const NOT_GATES = new Set(['measure', 'reset', 'delay', 'barrier'])

/**
 * Refuses a noise model with an unknown field or a value out of range.
 * @param qubits how many the backend has; `null` when it sets no limit.
 * @throws ServiceError `validation_error` naming the field.
 */
export function assertNoiseModel(model: unknown, qubits: number | null): void {
  const where = 'params.noise_model'
  for (const [key, value] of entries(model, where)) {
    const place = `${where}.${shown(key)}`
    if (key === 'like') assertHasFigures(value, place)
    else if (key === 'gate_errors') gateErrors(value, place, qubits)
    else if (key === 'readout_errors') readoutErrors(value, place, qubits)
    else if (key === 't1_us' || key === 't2_us') relaxationTimes(value, place, qubits)
    else if (key === 'gate_times_ns') gateTimes(value, place)
    else throw validationError(`${place}: is not a field of a noise model; known are ${fields.join(', ')}`)
  }
  assertCoherence(model as { t1_us?: Times; t2_us?: Times })
}

function assertHasFigures(slug: unknown, place: string): void {
  if (!devicesWithFigures.includes(slug as never))
    throw validationError(
      `${place}: has no published figures; known are those of ${devicesWithFigures.join(', ')} (got ${shown(JSON.stringify(slug))})`
    )
}

type Times = number | Record<string, number>

/** T2 cannot exceed twice T1, for each qubit that either of them names. */
function assertCoherence({ t1_us: t1, t2_us: t2 }: { t1_us?: Times; t2_us?: Times }): void {
  const timeOf = (times: Times | undefined, qubit: string) => (typeof times === 'object' ? times[qubit] : times)
  const named = [t1, t2].flatMap((times) => (typeof times === 'object' ? Object.keys(times) : ['']))
  for (const qubit of named) {
    const [relaxation, coherence] = [timeOf(t1, qubit), timeOf(t2, qubit)]
    if (relaxation !== undefined && coherence !== undefined && coherence > 2 * relaxation)
      throw validationError(
        `params.noise_model.t2_us${qubit && `.${qubit}`}: T2 is at most 2 T1 (T2 is ${coherence}, T1 is ${relaxation})`
      )
  }
}

function gateErrors(value: unknown, where: string, qubits: number | null): void {
  for (const [key, p] of entries(value, where)) {
    const place = `${where}.${shown(key)}`
    const found = GATE_ON_QUBITS.exec(key)
    if (!found)
      throw validationError(`${place}: must be all_1q, all_2q, a gate, or a gate and its qubits such as "cx@0,1"`)
    const [gate, indices] = key.split('@')
    assertGate(gate!, place)
    const named = indices?.split(',') ?? []
    for (const index of named) assertQubit(index, place, qubits)
    if (new Set(named).size !== named.length) throw validationError(`${place}: names a qubit twice`)
    assertNumber(p, place, 0, 1)
  }
}

function readoutErrors(value: unknown, where: string, qubits: number | null): void {
  for (const [key, errors] of entries(value, where)) {
    const place = `${where}.${shown(key)}`
    if (key !== 'all') assertQubit(key, place, qubits)
    for (const [name, p] of entries(errors, place)) {
      if (!readoutFields.includes(name as never))
        throw validationError(
          `${place}.${shown(name)}: is not a field of a readout error; known are ${readoutFields.join(', ')}`
        )
      assertNumber(p, `${place}.${name}`, 0, 1)
    }
  }
}

function relaxationTimes(value: unknown, where: string, qubits: number | null): void {
  const positive = (time: unknown, place: string) => {
    assertNumber(time, place, 0, MICROSECONDS_MAX)
    if (time === 0) throw validationError(`${place}: must be above 0 (got 0)`)
  }
  if (typeof value !== 'object' || value === null) {
    positive(value, where)
    return
  }
  for (const [key, time] of entries(value, where)) {
    assertQubit(key, `${where}.${shown(key)}`, qubits)
    positive(time, `${where}.${key}`)
  }
}

function gateTimes(value: unknown, where: string): void {
  for (const [key, time] of entries(value, where)) {
    const place = `${where}.${shown(key)}`
    if (!GATE.test(key)) throw validationError(`${place}: must be the name of a gate`)
    assertGate(key, place)
    assertNumber(time, place, 0, NANOSECONDS_MAX)
  }
}

function assertGate(name: string, place: string): void {
  if (NOT_GATES.has(name)) throw validationError(`${place}: "${name}" is not a gate`)
}

function assertQubit(text: string, place: string, qubits: number | null): void {
  if (!/^(0|[1-9]\d{0,3})$/.test(text))
    throw validationError(`${place}: must name a qubit by its number (got "${shown(text)}")`)
  if (qubits !== null && Number(text) >= qubits)
    throw validationError(`${place}: the backend has the qubits 0 to ${qubits - 1}`)
}

function assertNumber(value: unknown, place: string, least: number, most: number): void {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < least || value > most)
    throw validationError(`${place}: must be a number from ${least} to ${most} (got ${shown(JSON.stringify(value))})`)
}

function entries(value: unknown, where: string): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw validationError(`${where}: must be an object`)
  return Object.entries(value)
}

const shown = (text: string): string => text.slice(0, 50)
