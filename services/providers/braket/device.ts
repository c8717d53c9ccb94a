// What Braket says about a device: how to compile for it, and when it takes what. Its capabilities are JSON inside JSON, in
// the schemas of amazon-braket-schemas, of which only a few fields matter here.
import type { BackendState, DeviceFacts } from '../adapter.js'

export interface BraketDevice {
  deviceArn?: unknown
  deviceName?: unknown
  deviceType?: unknown
  deviceStatus?: unknown
  /** JSON text. */
  deviceCapabilities?: unknown
  deviceQueueInfo?: unknown
}

interface Capabilities {
  service?: { shotsRange?: unknown; deviceCost?: { price?: unknown; unit?: unknown } | null } | null
  action?: Record<string, { supportedOperations?: unknown; requiresAllQubitsMeasurement?: unknown } | undefined> | null
  paradigm?: { qubitCount?: unknown } | null
}

/** Those of the executor's targets. */
const QUBITS_MAX = 1024
const GATES_MAX = 200
const gatePattern = /^[A-Za-z][A-Za-z0-9_]{0,39}$/
/** Aquila's limits are 4 KiB. */
const LIMITS_BYTES_MAX = 64 * 1024

const statuses: Readonly<Record<string, BackendState['status']>> = {
  ONLINE: 'online',
  OFFLINE: 'offline',
  RETIRED: 'retired'
}

/** A device with an unknown status is not relied on. */
export const statusOf = ({ deviceStatus }: BraketDevice): BackendState['status'] =>
  typeof deviceStatus === 'string' && Object.hasOwn(statuses, deviceStatus) ? statuses[deviceStatus]! : 'offline'

/** @throws Error with what is missing or has an unknown form. */
export function factsOf(device: BraketDevice): DeviceFacts {
  const capabilities = capabilitiesOf(device)
  return {
    target: targetOf(capabilities),
    status: statusOf(device),
    shots: shotsOf(capabilities.service?.shotsRange),
    price: priceOf(capabilities.service?.deviceCost)
  }
}

function capabilitiesOf({ deviceCapabilities }: BraketDevice): Capabilities {
  if (typeof deviceCapabilities !== 'string') throw new Error('they are missing')
  const value: unknown = JSON.parse(deviceCapabilities)
  if (value === null || typeof value !== 'object') throw new Error('they are not an object')
  return value
}

function targetOf({ action, paradigm }: Capabilities): DeviceFacts['target'] {
  const qubits = paradigm?.qubitCount
  if (!isCount(qubits) || qubits < 1 || qubits > QUBITS_MAX) throw new Error('the number of qubits is missing')
  const gates = action?.['braket.ir.openqasm.program']
  if (gates) {
    // A name that the compiler cannot know is no gate that it could use.
    const names = Array.isArray(gates.supportedOperations) ? gates.supportedOperations.filter(isGate) : []
    if (names.length === 0 || names.length > GATES_MAX) throw new Error('the gates are missing')
    const measuresAll = gates.requiresAllQubitsMeasurement === true
    return { format: 'braket', num_qubits: qubits, gates: names, ...(measuresAll && { measures_all: true }) }
  }
  if (!action?.['braket.ir.ahs.program']) throw new Error('the device takes neither OpenQASM nor analog programs')
  if (JSON.stringify(paradigm).length > LIMITS_BYTES_MAX) throw new Error('the limits are too long')
  return { format: 'ahs', num_qubits: qubits, limits: paradigm }
}

function shotsOf(range: unknown): DeviceFacts['shots'] {
  if (!Array.isArray(range) || range.length !== 2) return null
  const [min, max] = range as unknown[]
  // 0 shots of a simulator return no counts.
  return isCount(min) && isCount(max) && min <= max ? { min: Math.max(1, min), max } : null
}

function priceOf(cost: { price?: unknown; unit?: unknown } | null | undefined): DeviceFacts['price'] {
  const { price, unit } = cost ?? {}
  if (typeof price !== 'number' || !(price >= 0) || typeof unit !== 'string') return null
  return { amount: price, unit: unit.slice(0, 40) }
}

/** How many tasks wait for the device; `null` where Braket says only that there are more than so many. */
export function queueLengthOf({ deviceQueueInfo }: BraketDevice): number | null {
  if (!Array.isArray(deviceQueueInfo)) return null
  const sizes = (deviceQueueInfo as ({ queue?: unknown; queueSize?: unknown } | null)[])
    .filter((queue) => queue?.queue === 'QUANTUM_TASKS_QUEUE')
    .map((queue) => wholeNumber(queue?.queueSize))
  if (sizes.length === 0 || sizes.includes(null)) return null
  return sizes.reduce<number>((sum, size) => sum + size!, 0)
}

/** Braket writes positions as text, such as `3`, `>2000` or `None`. */
export const wholeNumber = (text: unknown): number | null =>
  typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : null

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const isGate = (name: unknown): name is string => typeof name === 'string' && gatePattern.test(name)
