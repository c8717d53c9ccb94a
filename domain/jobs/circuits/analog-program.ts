// Analog programs (Amazon Braket's braket.ir.ahs.program): pulses on atoms at sites of a lattice, in place of gates. A look at
// the text shows what it is and how many sites it has; the executor checks the rest against the limits of the device.
import { validationError } from '../../errors.js'
import type { JobParams } from '../params/params.js'

const HEADER = { name: 'braket.ir.ahs.program', version: '1' }

export function isAnalogProgram(text: string): boolean {
  const header = (partsOf(text) as { braketSchemaHeader?: Partial<typeof HEADER> } | null)?.braketSchemaHeader
  return header?.name === HEADER.name && header.version === HEADER.version
}

/** @throws ServiceError `validation_error` for a text that is no analog program at all. */
export function assertAnalogProgram(payload: string, field: string): void {
  if (!isAnalogProgram(payload))
    throw validationError(
      `${field}: an analog program (ahs) is JSON with a braketSchemaHeader of the name "${HEADER.name}" and the version "${HEADER.version}"`
    )
  if (sitesOf(payload) === null) throw validationError(`${field}: setup.ahs_register.sites must be a list`)
}

/** The number of sites; `null` when the text does not show it. */
export function sitesOf(payload: string): number | null {
  const program = partsOf(payload) as { setup?: { ahs_register?: { sites?: unknown } } } | null
  const sites = program?.setup?.ahs_register?.sites
  return Array.isArray(sites) ? sites.length : null
}

/** `null` for a text that is not a JSON object. */
function partsOf(payload: string): object | null {
  try {
    const value: unknown = JSON.parse(payload)
    return typeof value === 'object' && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

/** Parameters that speak of gates, qubits or states, and why an analog program has none of them. */
const meaningless = {
  noise_model: 'it describes errors of gates',
  extract_state_vector: 'a machine returns no state',
  observables: 'its results are states of sites, not bits',
  observables_method: 'it needs params.observables',
  mitigation: 'its results are states of sites, not bits',
  optimization_level: 'it is sent as it is written',
  points: 'a sweep needs circuits; submit a job for each program'
} as const satisfies Partial<Record<keyof JobParams, string>>

/** @throws ServiceError `validation_error` for parameters that an analog program does not have. */
export function assertAnalogParams(params: Pick<JobParams, keyof typeof meaningless>): void {
  for (const [name, why] of Object.entries(meaningless)) {
    const value = params[name as keyof typeof meaningless]
    if (value !== undefined && value !== false)
      throw validationError(`params.${name}: an analog program (ahs) does not take it: ${why}`)
  }
}
