// A device's capabilities as GetDevice returns them, in the schemas of amazon-braket-schemas. They claim only what this
// emulator does: no result types, pragmas or modifiers beyond those of the programs that it runs.
import { aquilaParadigm } from './aquila.js'
import type { Device } from './devices.js'

const updatedAt = '2026-09-02T00:00:00'
const headerOf = (name: string, version = '1') => ({ braketSchemaHeader: { name, version } })

const schemas: Record<string, readonly [name: string, version: string]> = {
  'Amazon Braket': ['braket.device_schema.simulators.gate_model_simulator_device_capabilities', '1'],
  IonQ: ['braket.device_schema.ionq.ionq_device_capabilities', '1'],
  IQM: ['braket.device_schema.iqm.iqm_device_capabilities', '1'],
  Rigetti: ['braket.device_schema.rigetti.rigetti_device_capabilities', '2'],
  QuEra: ['braket.device_schema.quera.quera_device_capabilities', '1']
}

export function capabilitiesOf(device: Device): Record<string, unknown> {
  const [name, version] = schemas[device.provider]!
  return {
    ...headerOf(name, version),
    service: serviceOf(device),
    action: actionOf(device),
    paradigm: paradigmOf(device),
    deviceParameters: {}
  }
}

const serviceOf = (device: Device) => ({
  ...headerOf('braket.device_schema.device_service_properties'),
  executionWindows: [{ executionDay: 'Everyday', windowStartHour: '00:00:00', windowEndHour: '23:59:59' }],
  shotsRange: device.shots,
  deviceCost: device.price,
  deviceDocumentation: {
    imageUrl: null,
    summary: `Emulated on this machine with the published facts of ${device.provider}'s ${device.name}`,
    externalDocumentationUrl: null
  },
  deviceLocation: 'this machine (emulated)',
  updatedAt,
  getTaskPollIntervalMillis: 200
})

function actionOf(device: Device): Record<string, unknown> {
  if (device.kind === 'analog')
    return { 'braket.ir.ahs.program': { actionType: 'braket.ir.ahs.program', version: ['1'] } }
  const one = device.oneRegister ? 1 : null
  return {
    'braket.ir.openqasm.program': {
      actionType: 'braket.ir.openqasm.program',
      version: ['1'],
      supportedOperations: device.operations,
      supportedModifiers: [],
      supportedPragmas: device.simulator ? [] : ['verbatim'],
      forbiddenPragmas: [],
      maximumQubitArrays: one,
      maximumClassicalArrays: one,
      forbiddenArrayOperations: ['concatenation', 'negativeIndex', 'range', 'rangeWithStep', 'slicing', 'selection'],
      requiresAllQubitsMeasurement: device.measuresAll,
      supportPhysicalQubits: !device.simulator,
      requiresContiguousQubitIndices: false,
      supportsPartialVerbatimBox: false,
      supportsUnassignedMeasurements: true,
      disabledQubitRewiringSupported: !device.simulator,
      supportedResultTypes: []
    }
  }
}

function paradigmOf(device: Device): Record<string, unknown> {
  if (device.kind === 'analog') return aquilaParadigm
  if (device.simulator)
    return {
      ...headerOf('braket.device_schema.simulators.gate_model_simulator_paradigm_properties'),
      qubitCount: device.qubits
    }
  return {
    ...headerOf('braket.device_schema.gate_model_qpu_paradigm_properties'),
    qubitCount: device.qubits,
    nativeGateSet: device.nativeGates,
    connectivity: { fullyConnected: device.lattice === null, connectivityGraph: graphOf(device) }
  }
}

function graphOf({ lattice, firstQubit }: Device): Record<string, string[]> {
  if (!lattice) return {}
  const [rows, columns] = lattice
  const name = (row: number, column: number) => String(firstQubit + row * columns + column)
  const graph: Record<string, string[]> = {}
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      graph[name(row, column)] = [
        ...(row > 0 ? [name(row - 1, column)] : []),
        ...(column > 0 ? [name(row, column - 1)] : []),
        ...(column + 1 < columns ? [name(row, column + 1)] : []),
        ...(row + 1 < rows ? [name(row + 1, column)] : [])
      ]
    }
  }
  return graph
}
