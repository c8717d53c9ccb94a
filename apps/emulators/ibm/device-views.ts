// Devices as IBM returns them, built from the columns of the trimmed data.
import type { Device, DeviceData } from './devices.js'
import type { IbmParts } from './parts.js'

const reasons = { online: 'available', paused: 'maintenance', offline: 'offline', retired: 'retired' } as const

export function deviceSummary(device: Device, parts: IbmParts, withWait: boolean): Record<string, unknown> {
  const status = parts.devices.status(device)
  const queueLength = parts.jobs.queueLength(device.name)
  return {
    name: device.name,
    status: { name: status, reason: reasons[status] },
    is_simulator: false,
    qubits: device.qubits,
    processor_type: device.data.configuration.processor_type,
    queue_length: queueLength,
    ...(withWait && { wait_time_seconds: { average: queueLength, p50: queueLength, p95: 2 * queueLength } })
  }
}

export function statusView(device: Device, { devices, jobs }: IbmParts): Record<string, unknown> {
  const status = devices.status(device)
  const isOnline = status === 'online'
  return {
    state: isOnline,
    status: isOnline ? 'active' : reasons[status],
    message: reasons[status],
    length_queue: jobs.queueLength(device.name),
    backend_version: device.data.configuration.backend_version
  }
}

export function configurationView({ data: { configuration } }: Device): Record<string, unknown> {
  const alone = Array.from({ length: configuration.n_qubits }, (_, qubit) => [qubit])
  const gates = configuration.gates.map((gate) => {
    if (!configuration.basis_gates.includes(gate.name)) return gate
    return { ...gate, coupling_map: gate.name === 'cz' ? configuration.coupling_map : alone }
  })
  return { ...configuration, gates }
}

export function propertiesView({ data: { configuration, properties } }: Device): Record<string, unknown> {
  const { last_update_date: date, qubits, gates } = properties
  const values = (columns: DeviceData['properties']['qubits'], index: number) =>
    Object.entries(columns).flatMap(([name, { unit, values: column }]) => {
      const value = column[index]
      return value == null ? [] : [{ date, name, unit, value }]
    })
  const alone = Array.from({ length: configuration.n_qubits }, (_, qubit) => [qubit])
  return {
    backend_name: configuration.backend_name,
    backend_version: configuration.backend_version,
    last_update_date: date,
    qubits: alone.map((_, index) => values(qubits, index)),
    gates: Object.entries(gates).flatMap(([gate, columns]) =>
      (gate === 'cz' ? configuration.coupling_map : alone).map((on, index) => ({
        gate,
        name: `${gate}${on.join('_')}`,
        qubits: on,
        parameters: values(columns, index)
      }))
    ),
    general: []
  }
}

/** IBM has ended the control by pulses, of which these would be the defaults. */
export const defaultsView = { qubit_freq_est: [], meas_freq_est: [], buffer: 0, pulse_library: [], cmd_def: [] }
