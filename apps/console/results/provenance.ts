// What the metadata of a result says of where its counts come from, each value in the digits of the result.
import { jsonFields } from '../../../domain/json/json-text.js'

export interface ProvenanceFact {
  name: string
  value: string
  /** A digest or an id, which is compared character by character. */
  isCode: boolean
}

/** By the values of `count_source`. */
const sources: Readonly<Record<string, string>> = {
  simulator_sampled: 'sampled by a simulator of this service',
  provider_counts: 'returned by the provider',
  provider_measurements: 'returned by the provider, as measurements',
  probability_derived: 'derived from probabilities that the provider returned',
  program_reported: 'reported by the program itself'
}

const VALUE_CHARACTERS_MAX = 500

/** @param text the JSON text of a result, or of one point of a sweep. @returns none where it has no metadata. */
export function readProvenance(text: string): ProvenanceFact[] {
  const metadata = fieldsOf(fieldsOf(text)?.get('metadata'))
  if (metadata === null) return []
  const said = (name: string) => plainOf(metadata.get(name))
  const shots = [said('shots_observed'), said('shots_requested')]
  const facts: [name: string, value: string | null, isCode?: 'code'][] = [
    ['Counts', metadata.has('count_source') ? sourceOf(metadata, said) : null],
    ['Engine', joined(said('engine'), said('engine_version'))],
    ['Framework', said('framework_version')],
    ['Optimisation level', said('optimization_level')],
    ['Seed', said('seed')],
    [
      'Shots that ran',
      shots[0] && shots[1] && shots[0] !== shots[1] ? `${shots[0]} of ${shots[1]}` : (shots[0] ?? null)
    ],
    ['Noise model', noiseOf(metadata.get('noise_model'))],
    ['Calibration', said('calibration_id'), 'code'],
    ['Job at the provider', said('provider_job_id'), 'code'],
    ['SHA-256 of the circuit', said('circuit_sha256'), 'code']
  ]
  return facts.flatMap(([name, value, isCode]) => (value === null ? [] : [{ name, value, isCode: isCode === 'code' }]))
}

type Said = (name: string) => string | null

function sourceOf(metadata: ReadonlyMap<string, string>, said: Said): string {
  const source = said('count_source')
  if (source === null) return 'none that the service vouches for: the program returned its own value'
  const known = Object.hasOwn(sources, source) ? sources[source]! : source
  return metadata.get('executed_apart') === 'true' ? `${known}, apart from the program` : known
}

/** `null` where the engine can have none. */
function noiseOf(text: string | undefined): string | null {
  if (text === undefined) return null
  const model = fieldsOf(text)
  if (model === null) return 'none'
  const [like, figures] = [plainOf(model.get('like')), plainOf(model.get('figures'))]
  if (like === null) return 'that of the parameters'
  return figures === null ? `like ${like}` : `like ${like}, by its figures of ${figures}`
}

const joined = (one: string | null, other: string | null): string | null =>
  one === null || other === null ? (one ?? other) : `${one}, ${other}`

/** A text without its quotes, anything else as it is written; `null` for none. */
function plainOf(text: string | undefined): string | null {
  if (text === undefined || text === 'null') return null
  const value = text.startsWith('"') ? (JSON.parse(text) as string) : text
  return value.length <= VALUE_CHARACTERS_MAX ? value : `${value.slice(0, VALUE_CHARACTERS_MAX).toWellFormed()}…`
}

/** `null` for what is not a JSON object. */
function fieldsOf(text: string | undefined): Map<string, string> | null {
  try {
    return text?.startsWith('{') ? jsonFields(text) : null
  } catch {
    return null
  }
}
