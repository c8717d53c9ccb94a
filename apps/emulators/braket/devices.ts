// The devices of the emulated Braket, by the facts that AWS publishes. Their ARNs are those of the catalogue.
import type { Change, DeviceStatus } from '../task-times.js'

export interface Device {
  readonly arn: string
  readonly name: string
  readonly provider: string
  /** Null: simulators run in the region of the request. */
  readonly region: string | null
  readonly kind: 'gates' | 'analog'
  readonly simulator: boolean
  readonly qubits: number
  readonly shots: readonly [min: number, max: number]
  readonly price: { price: number; unit: string }
  /** The names of gates, of Braket's dialect. */
  readonly operations: readonly string[]
  readonly nativeGates: readonly string[]
  /** Rows and columns of a square lattice; null if every qubit meets every other. */
  readonly lattice: readonly [rows: number, columns: number] | null
  /** The number of the first qubit. */
  readonly firstQubit: number
  readonly measuresAll: boolean
  /** One declaration of each kind, as on hardware. */
  readonly oneRegister: boolean
  /** What became of it while the emulator runs, oldest first. */
  readonly changes: readonly Change[]
}

const common = [
  'ccnot', 'cnot', 'cphaseshift', 'cphaseshift00', 'cphaseshift01', 'cphaseshift10', 'cswap', 'cy', 'cz', 'ecr', 'h',
  'i', 'iswap', 'pswap', 'phaseshift', 'rx', 'ry', 'rz', 's', 'si', 'swap', 't', 'ti', 'v', 'vi', 'x', 'xx', 'xy', 'y',
  'yy', 'z', 'zz'
] // biome-ignore format: a list of words

const ofSimulators = [...common, 'cv', 'gpi', 'gpi2', 'gphase', 'ms', 'prx', 'U']
/** IonQ's compiler at Braket knows no controlled phases beyond these. */
const ofIonq = ['x', 'y', 'z', 'h', 's', 'si', 't', 'ti', 'v', 'vi', 'rx', 'ry', 'rz', 'cnot', 'swap', 'xx', 'yy', 'zz']

const gateDevice = {
  kind: 'gates' as const,
  simulator: false,
  nativeGates: [] as readonly string[],
  lattice: null,
  firstQubit: 0,
  measuresAll: false,
  oneRegister: true
}
const simulator = {
  ...gateDevice,
  provider: 'Amazon Braket',
  region: null,
  simulator: true,
  oneRegister: false,
  operations: ofSimulators,
  price: { price: 0.075, unit: 'minute' }
}
const retired: readonly Change[] = [{ at: 0, status: 'RETIRED' }]

type Seeded = Omit<Device, 'changes'> & { changes?: readonly Change[] }

const seeded: readonly Seeded[] = [
  {
    ...simulator,
    arn: 'arn:aws:braket:::device/quantum-simulator/amazon/sv1',
    name: 'SV1',
    qubits: 34,
    shots: [0, 100_000]
  },
  {
    ...simulator,
    arn: 'arn:aws:braket:::device/quantum-simulator/amazon/dm1',
    name: 'dm1',
    qubits: 17,
    shots: [0, 100_000]
  },
  {
    ...simulator,
    arn: 'arn:aws:braket:::device/quantum-simulator/amazon/tn1',
    name: 'TN1',
    qubits: 50,
    shots: [1, 1000],
    price: { price: 0.275, unit: 'minute' },
    changes: retired
  },
  {
    ...gateDevice,
    arn: 'arn:aws:braket:us-east-1::device/qpu/ionq/Forte-1',
    name: 'Forte 1',
    provider: 'IonQ',
    region: 'us-east-1',
    qubits: 36,
    shots: [1, 5000],
    price: { price: 0.08, unit: 'shot' },
    operations: ofIonq,
    nativeGates: ['gpi', 'gpi2', 'zz']
  },
  {
    ...gateDevice,
    arn: 'arn:aws:braket:us-west-1::device/qpu/rigetti/Ankaa-3',
    name: 'Ankaa-3',
    provider: 'Rigetti',
    region: 'us-west-1',
    qubits: 84,
    shots: [1, 50_000],
    price: { price: 0.0009, unit: 'shot' },
    operations: common,
    nativeGates: ['rx', 'rz', 'iswap'],
    lattice: [7, 12],
    changes: retired
  },
  {
    ...gateDevice,
    arn: 'arn:aws:braket:us-west-1::device/qpu/rigetti/Cepheus-1-108Q',
    name: 'Cepheus-1-108Q',
    provider: 'Rigetti',
    region: 'us-west-1',
    qubits: 108,
    shots: [1, 50_000],
    price: { price: 0.0009, unit: 'shot' },
    operations: common,
    nativeGates: ['rx', 'rz', 'cz'],
    lattice: [9, 12],
    measuresAll: true
  },
  {
    ...gateDevice,
    arn: 'arn:aws:braket:eu-north-1::device/qpu/iqm/Garnet',
    name: 'Garnet',
    provider: 'IQM',
    region: 'eu-north-1',
    qubits: 20,
    shots: [1, 20_000],
    price: { price: 0.00145, unit: 'shot' },
    operations: [...common, 'prx'],
    nativeGates: ['prx', 'cz'],
    lattice: [4, 5],
    firstQubit: 1
  },
  {
    ...gateDevice,
    arn: 'arn:aws:braket:us-east-1::device/qpu/quera/Aquila',
    name: 'Aquila',
    provider: 'QuEra',
    region: 'us-east-1',
    kind: 'analog',
    qubits: 256,
    shots: [1, 1000],
    price: { price: 0.01, unit: 'shot' },
    operations: []
  }
]

export class Devices {
  private devices = newDevices()

  constructor(private readonly now: () => number) {}

  get(arn: string): Device | null {
    return this.devices.get(arn) ?? null
  }

  /** Those that a region offers. */
  inRegion(region: string): Device[] {
    return [...this.devices.values()].filter((device) => device.region === null || device.region === region)
  }

  status({ changes }: Device): DeviceStatus {
    return changes.at(-1)?.status ?? 'ONLINE'
  }

  /** @throws Error for an unknown device or status. */
  setStatus(name: string, status: string): void {
    const device = [...this.devices.values()].find(({ arn, name: short }) => arn === name || short === name)
    if (!device) throw new Error(`There is no device ${name} (devices: ${[...this.devices.keys()].join(', ')}).`)
    const known = statuses.find((one) => one === status.toUpperCase())
    if (!known) throw new Error(`status: must be one of ${statuses.join(', ')} (got ${status})`)
    this.devices.set(device.arn, { ...device, changes: [...device.changes, { at: this.now(), status: known }] })
  }

  reset(): void {
    this.devices = newDevices()
  }
}

const statuses: readonly DeviceStatus[] = ['ONLINE', 'OFFLINE', 'RETIRED']

const newDevices = (): Map<string, Device> => new Map(seeded.map((device) => [device.arn, { changes: [], ...device }]))
