// The devices of the emulated IonQ, with the sizes and gate sets that IonQ publishes.

import type { DeviceChange, DeviceState } from '../device-changes.js'

export type DeviceStatus = 'available' | 'unavailable' | 'retired'

export interface Machine {
  name: string
  qubits: number
  status: DeviceStatus
  /** Returns exact probabilities instead of counts over shots. */
  exact: boolean
  nativeGates: readonly string[]
}

export interface Device extends Machine {
  /** What became of it while the emulator runs, oldest first. */
  readonly changes: DeviceChange<DeviceStatus>[]
}

export const stateOfDevice: Record<DeviceStatus, DeviceState> = {
  available: 'working',
  unavailable: 'away',
  retired: 'retired'
}

export const qisGates = [
  'x', 'y', 'z', 'rx', 'ry', 'rz', 'h', 's', 'si', 'v', 'vi', 't', 'ti', 'not', 'cnot', 'swap', 'xx', 'yy', 'zz',
  'pauliexp'
] as const // biome-ignore format: a list of words

const seeded: readonly Machine[] = [
  { name: 'simulator', qubits: 29, status: 'available', exact: true, nativeGates: ['gpi', 'gpi2', 'ms', 'zz', 'nop'] },
  { name: 'qpu.forte-1', qubits: 36, status: 'available', exact: false, nativeGates: ['gpi', 'gpi2', 'zz', 'nop'] },
  {
    name: 'qpu.forte-enterprise-1',
    qubits: 36,
    status: 'available',
    exact: false,
    nativeGates: ['gpi', 'gpi2', 'zz', 'nop']
  },
  { name: 'qpu.aria-1', qubits: 25, status: 'retired', exact: false, nativeGates: ['gpi', 'gpi2', 'ms', 'nop'] }
]

/** A new set of devices whose statuses can be changed. */
export const newDevices = (): Map<string, Device> =>
  new Map(seeded.map((device) => [device.name, { ...device, changes: [] }]))
