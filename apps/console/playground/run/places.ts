// Where a program can run: in this browser, or on a free simulator of the server.
import type { Backend } from '../../api/client.js'
import type { Option } from '../../components/fields.js'
import { defaultSimulator, type SimulatorName, simulatorNames } from '../../simulators/simulation.js'

/** The simulator of a place, or the slug of a backend. */
export type Place = { kind: 'browser'; simulator: SimulatorName } | { kind: 'server'; backend: string }

const simulatorTexts = {
  'statevector-js': 'This browser',
  'quantum-circuit': 'This browser: quantum-circuit',
  'qulacs-wasm': 'This browser: Qulacs'
} as const satisfies Record<SimulatorName, string>

export const defaultPlace = defaultSimulator

/** @param value of an option. */
export function placeOf(value: string): Place {
  const simulator = simulatorNames.find((name) => name === value)
  return simulator ? { kind: 'browser', simulator } : { kind: 'server', backend: value }
}

const isFree = ({ pricing: { taskFee, perShot, minimumCost, perSecond } }: Backend): boolean =>
  taskFee === 0 && perShot === 0 && minimumCost === 0 && !perSecond

/** Those that the playground of the server may take; it refuses the others in its words. */
export const freeSimulators = (backends: readonly Backend[]): Backend[] =>
  backends.filter((backend) => !backend.isRetired && backend.deviceType === 'simulator' && isFree(backend))

/** @param isVisitor without an account, whom the server runs nothing for. */
export const placeOptions = (backends: readonly Backend[], isVisitor: boolean): Option[] => [
  ...simulatorNames.map((value) => ({ value, text: simulatorTexts[value] })),
  ...freeSimulators(backends).map(({ slug, name, isAvailable, unavailableReason }) => ({
    value: slug,
    text: `Server: ${name}${isVisitor ? ' (sign in first)' : isAvailable ? '' : `: ${unavailableReason ?? 'not available'}`}`,
    disabled: isVisitor || !isAvailable
  }))
]
