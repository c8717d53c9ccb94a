// The devices of the emulated IBM Quantum, by the data that IBM publishes in qiskit-ibm-runtime.
import fez from './fixtures/ibm_fez.json' with { type: 'json' }
import marrakesh from './fixtures/ibm_marrakesh.json' with { type: 'json' }
import type { Change, DeviceStatus } from './job-times.js'

/** One value for each qubit, or for each pair of the coupling map; null where IBM has none. */
interface Column {
  unit: string
  values: readonly (number | null)[]
}

export interface DeviceData {
  configuration: {
    backend_name: string
    backend_version: string
    n_qubits: number
    basis_gates: readonly string[]
    coupling_map: readonly (readonly number[])[]
    max_shots: number
    max_experiments: number
    processor_type: { family: string; revision: string }
    gates: readonly { name: string }[]
  }
  properties: {
    last_update_date: string
    qubits: Readonly<Record<string, Column>>
    gates: Readonly<Record<string, Readonly<Record<string, Column>>>>
  }
}

export interface Device {
  readonly name: string
  readonly qubits: number
  readonly shotsMax: number
  readonly circuitsMax: number
  readonly basis: ReadonlySet<string>
  readonly data: DeviceData
  /** Whether a gate of two qubits can act on this pair, in this order. */
  isCoupled(first: number, second: number): boolean
  /** What became of it while the emulator runs, oldest first. */
  readonly changes: readonly Change[]
}

function deviceOf(data: DeviceData): Device {
  const { backend_name, n_qubits, max_shots, max_experiments, basis_gates, coupling_map } = data.configuration
  const pairs = new Set(coupling_map.map(([first, second]) => `${first} ${second}`))
  return {
    name: backend_name,
    qubits: n_qubits,
    shotsMax: max_shots,
    circuitsMax: max_experiments,
    basis: new Set(basis_gates),
    data,
    isCoupled: (first, second) => pairs.has(`${first} ${second}`),
    changes: []
  }
}

const seeded: readonly Device[] = [deviceOf(fez), deviceOf(marrakesh)]

const statuses: readonly DeviceStatus[] = ['online', 'paused', 'offline', 'retired']

export class Devices {
  private devices = newDevices()

  constructor(private readonly now: () => number) {}

  get(name: string): Device | null {
    return this.devices.get(name) ?? null
  }

  /** Those that an instance sees: IBM no longer lists a device that it has retired. */
  listed(): Device[] {
    return [...this.devices.values()].filter((device) => this.status(device) !== 'retired')
  }

  status({ changes }: Device): DeviceStatus {
    return changes.at(-1)?.status ?? 'online'
  }

  /** @throws Error for an unknown device or status. */
  setStatus(name: string, status: string): void {
    const device = this.devices.get(name)
    if (!device) throw new Error(`There is no device ${name} (devices: ${[...this.devices.keys()].join(', ')}).`)
    const known = statuses.find((one) => one === status.toLowerCase())
    if (!known) throw new Error(`status: must be one of ${statuses.join(', ')} (got ${status})`)
    this.devices.set(name, { ...device, changes: [...device.changes, { at: this.now(), status: known }] })
  }

  reset(): void {
    this.devices = newDevices()
  }
}

const newDevices = (): Map<string, Device> => new Map(seeded.map((device) => [device.name, device]))
