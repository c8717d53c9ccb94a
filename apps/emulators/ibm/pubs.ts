// The primitive unified blocs (PUBs) of a job: a circuit, values of its parameters, and shots.
import { inflateSync } from 'node:zlib'
import type { Device } from './devices.js'
import { codes, IbmError, notValid } from './errors.js'
import type { Pub } from './job.js'
import type { SamplerParams } from './job-schema.js'
import { type JobFailure, readCircuit } from './programs.js'

/** IBM's default. */
const shotsDefault = 4096
/** An array without values is far smaller. */
const arrayBytesMax = 10_000

export interface ReadPubs {
  /** Those up to the first that cannot run. */
  pubs: readonly Pub[]
  failure: JobFailure | null
  /** Of all circuits together. */
  shots: number
}

/** @throws IbmError (400) for what IBM, or this emulator, does not take. */
export function readPubs(params: SamplerParams, device: Device): ReadPubs {
  checkOptions(params)
  if (params.pubs.length > device.circuitsMax)
    throw notValid(`pubs: ${device.name} takes at most ${device.circuitsMax} circuits (got ${params.pubs.length}).`)
  const texts = params.pubs.map((pub, index) => readPub(pub, index, params, device))
  const pubs: Pub[] = []
  let failure: JobFailure | null = null
  for (const [index, { source, shots }] of texts.entries()) {
    const program = readCircuit(source, device, index)
    if ('reason' in program) {
      failure = program
      break
    }
    pubs.push({ program, shots })
  }
  return { pubs, failure, shots: texts.reduce((sum, { shots }) => sum + shots, 0) }
}

function readPub(pub: readonly unknown[], index: number, params: SamplerParams, device: Device) {
  const [source, values, own] = pub
  if (typeof source !== 'string') {
    const isQpy = source !== null && typeof source === 'object' && '__type__' in source
    throw notValid(
      isQpy
        ? `pubs.${index}: this emulator does not read circuits in QPY; send a text in OpenQASM 3.`
        : `pubs.${index}: the circuit must be a text in OpenQASM 3.`
    )
  }
  if (!isEmpty(values))
    throw notValid(`pubs.${index}: this emulator takes no values of parameters; send a circuit without parameters.`)
  const shots = own ?? params.shots ?? params.options?.default_shots ?? shotsDefault
  if (!Number.isInteger(shots) || Number(shots) < 1)
    throw notValid(`pubs.${index}: the shots must be a whole number from 1 (got ${JSON.stringify(shots)}).`)
  if (Number(shots) > device.shotsMax)
    throw new IbmError(400, codes.tooManyShots, `pubs.${index}: ${device.name} takes at most ${device.shotsMax} shots.`)
  return { source, shots: Number(shots) }
}

/** What would change the results is refused rather than left out. */
function checkOptions({ options = {} }: SamplerParams): void {
  const { meas_type = 'classified', init_qubits = true } = options.execution ?? {}
  if (meas_type !== 'classified')
    throw notValid(`options.execution.meas_type: this emulator returns classified results, not ${meas_type}.`)
  if (!init_qubits)
    throw notValid('options.execution.init_qubits: this emulator starts every shot with all qubits zero.')
}

/** Whether no parameter has a value: null, an empty list or object, or Qiskit's array of shape (0,). */
function isEmpty(values: unknown): boolean {
  if (values === null || values === undefined) return true
  if (typeof values !== 'object') return false
  if ('__type__' in values) return '__value__' in values && isEmptyArray(values.__value__)
  return Object.keys(values).length === 0
}

function isEmptyArray(value: unknown): boolean {
  if (typeof value !== 'string') return false
  try {
    const file = inflateSync(Buffer.from(value, 'base64'), { maxOutputLength: arrayBytesMax })
    return /'shape': \((\d+, )*0[,)]/.test(file.toString('latin1'))
  } catch {
    return false
  }
}
