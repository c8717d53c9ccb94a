// What the forms for a job and for a run of a script hold whatever it is that runs, and what becomes of it in the request.
// All of it is as typed: the service reads and checks it.
import { parse } from 'lossless-json'
import { jsonFields } from '../../../../domain/json/json-text.js'
import { refusedPath } from '../../api/field-fault.js'
import { numberOf } from '../../text/number-of.js'

/** In the place of a backend: the service chooses one when the job is submitted. */
export const AUTO = 'auto'

export interface JobSettings {
  /** '' for the first that can run it. */
  backend: string
  shots: string
  seed: string
  name: string
  mode: string
  /** The submitter's own cap, in USD. */
  maxCost: string
  /** JSON of an object: the parameters that have no field of their own. */
  params: string
  /** One a line. */
  labels: string
  /** Of one execution, in seconds. */
  timeout: string
  /** ISO 8601. */
  notBefore: string
  notify: string
  /** Wishes, which only `AUTO` has. Seconds in the queue of a provider. */
  maxWait: string
  minQubits: string
  /** 'true' for a quantum computer, 'false' for a simulator. */
  hardware: string
  /** In USD, of the whole job. */
  wishedCost: string
}

export const emptySettings: JobSettings = {
  backend: '',
  shots: '1000',
  seed: '',
  name: '',
  mode: '',
  maxCost: '',
  params: '',
  labels: '',
  timeout: '',
  notBefore: '',
  notify: '',
  maxWait: '',
  minQubits: '',
  hardware: '',
  wishedCost: ''
}

/** @param params besides shots and seed, as JSON values. */
export function settingsBody(settings: JobSettings, params: object, team: { team_id?: string }): object {
  const { backend, shots, seed, name, mode, maxCost, timeout, notBefore, notify } = settings
  const labels = settings.labels.split('\n').filter((label) => label.trim() !== '')
  const choose = wishesOf(settings)
  return {
    backend,
    ...(backend === AUTO && Object.keys(choose).length > 0 && { choose }),
    params: { ...params, shots: numberOf(shots), ...(seed !== '' && { seed: numberOf(seed) }) },
    ...team,
    ...(name && { name }),
    ...(mode && { execution_mode: mode }),
    ...(maxCost && { max_cost_usd: numberOf(maxCost) }),
    ...(labels.length > 0 && { labels }),
    ...(timeout && { timeout_seconds: numberOf(timeout) }),
    ...(notBefore && { not_before: notBefore.trim() }),
    ...(notify && { notify })
  }
}

const wishesOf = ({ maxWait, minQubits, hardware, wishedCost }: JobSettings): object => ({
  ...(maxWait && { max_wait_seconds: numberOf(maxWait) }),
  ...(minQubits && { min_qubits: numberOf(minQubits) }),
  ...(hardware && { hardware: hardware === 'true' }),
  ...(wishedCost && { max_cost_usd: numberOf(wishedCost) })
})

/**
 * The parameters that were typed as JSON, in which each number keeps its digits.
 * @param own names that have a field of their own.
 */
export function typedParams(text: string, own: readonly string[]): { value: Record<string, unknown> } | Fault {
  if (text.trim() === '') return { value: {} }
  try {
    // It refuses what is no JSON, and the other has the fields by any name.
    parse(text)
    const fields = jsonFields(text)
    const taken = own.find((name) => fields.has(name))
    if (taken !== undefined) return { fault: `${taken} has a field of its own` }
    return { value: Object.fromEntries([...fields].map(([name, value]) => [name, parse(value)])) }
  } catch {
    return { fault: 'must be JSON of an object, such as {"observables": ["ZZ"]}' }
  }
}
interface Fault {
  fault: string
}

const fieldNames: Readonly<Record<string, keyof JobSettings>> = {
  'params.shots': 'shots',
  shots: 'shots',
  'params.seed': 'seed',
  seed: 'seed',
  name: 'name',
  max_cost_usd: 'maxCost',
  labels: 'labels',
  timeout_seconds: 'timeout',
  not_before: 'notBefore',
  notify: 'notify',
  'choose.max_wait_seconds': 'maxWait',
  'choose.min_qubits': 'minQubits',
  'choose.max_cost_usd': 'wishedCost'
}

export interface FieldRefusal<Field extends string = keyof JobSettings> {
  field: Field
  /** The parameter that it is about, where that has no field here. */
  param: string | null
  text: string
}

/**
 * The field that a refusal is about: its message begins with the field's name.
 * @param more fields besides those of the settings, by their names in the API.
 */
export function refusalAt<More extends string = never>(
  message: string,
  more: Readonly<Record<string, More>> = {}
): FieldRefusal<keyof JobSettings | More> | null {
  const refused = refusedPath(message)
  if (refused === null) return null
  const { path, text } = refused
  const name = path.replace(/\[\d+\]/g, '')
  const field = more[name] ?? fieldNames[name]
  if (field !== undefined) return { field, param: null, text }
  const [, param] = /^params\.(\w+)/.exec(name) ?? []
  return param === undefined ? null : { field: 'params', param, text: `${path.slice('params.'.length)}: ${text}` }
}
