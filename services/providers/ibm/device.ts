// What IBM Quantum says about its devices: how to compile for one, how many shots it takes, and which of them are on.
import { type BackendState, type DeviceFacts, ProviderFault } from '../adapter.js'
import { type Answer, countOf, isAnswer, partOf, textOf } from './answers.js'

/** Those of the executor's targets. */
const QUBITS_MAX = 1024
const PAIRS_MAX = 16 * QUBITS_MAX
/** More than IBM has machines. */
const DEVICES_MAX = 1000

/**
 * The gates to compile to, of those that IBM lists. Without `rx` and `rzz`: on IBM's machines these are fractional gates, which
 * take only some angles, and which IBM's own client leaves out too unless it is told to use them.
 */
const gates: ReadonlySet<string> = new Set(['cx', 'cz', 'ecr', 'id', 'rz', 'sx', 'x'])

/** @returns the name as it stands in a path. @throws ProviderFault `refused` for what names no device. */
export function deviceOf(target: string): string {
  if (/^[\w-]{1,64}$/.test(target)) return target
  throw new ProviderFault('refused', `${target.slice(0, 100)} is not the name of a device of IBM Quantum`)
}

/** @throws Error with what is missing or has an unknown form. */
export function factsOf(configuration: Answer, status: Answer): DeviceFacts {
  const max = countOf(configuration.max_shots)
  return {
    target: targetOf(configuration),
    status: statusOf(status),
    shots: max === null || max < 1 ? null : { min: 1, max },
    // By the plan of the account, which IBM does not state.
    price: null
  }
}

function targetOf({ n_qubits, basis_gates, coupling_map }: Answer): DeviceFacts['target'] {
  const qubits = countOf(n_qubits)
  if (qubits === null || qubits < 1 || qubits > QUBITS_MAX) throw new Error('the number of qubits is missing')
  const known = Array.isArray(basis_gates) ? [...new Set(basis_gates.filter((name) => gates.has(name)))] : []
  if (known.length === 0) throw new Error('the gates are missing')
  // Without pairs, the compiler would take all qubits as coupled.
  if (!Array.isArray(coupling_map) || coupling_map.length === 0 || coupling_map.length > PAIRS_MAX)
    throw new Error('the coupled qubits are missing')
  const stray = coupling_map.find((pair) => !isPair(pair, qubits))
  if (stray !== undefined) throw new Error(`a pair of coupled qubits is not one of 0 to ${qubits - 1}`)
  return { format: 'ibm', num_qubits: qubits, basis_gates: known, coupling_map }
}

function isPair(pair: unknown, qubits: number): boolean {
  if (!Array.isArray(pair) || pair.length !== 2 || pair[0] === pair[1]) return false
  return pair.every((qubit) => countOf(qubit) !== null && qubit < qubits)
}

/** `state` is whether it is on, `status` a word such as `active`. A device with an unknown word is not relied on. */
function statusOf({ state, status }: Answer): BackendState['status'] {
  if (status === 'retired') return 'retired'
  return status === 'active' && state !== false ? 'online' : 'offline'
}

/** @throws ProviderFault `unclear` for a list of another form: it must not look like one without devices. */
export function statesOf({ devices }: Answer): BackendState[] {
  const states = Array.isArray(devices)
    ? devices.slice(0, DEVICES_MAX).flatMap((device) => (isAnswer(device) ? stateOf(device) : []))
    : []
  if (states.length > 0 || (Array.isArray(devices) && devices.length === 0)) return states
  throw new ProviderFault('unclear', 'IBM Quantum listed no devices in a known form')
}

function stateOf({ name, status, queue_length, wait_time_seconds }: Answer): BackendState[] {
  const target = textOf(name, 64)
  if (target === null) return []
  const word = partOf(status).name
  return [
    {
      target,
      // A paused device runs nothing, whatever its reason. `maintenance` is the word of an administrator here, who alone ends it.
      status: word === 'online' || word === 'retired' ? word : 'offline',
      queueTimeSeconds: countOf(partOf(wait_time_seconds).average),
      queueLength: countOf(queue_length)
    }
  ]
}
