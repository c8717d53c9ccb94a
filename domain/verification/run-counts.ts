// The counts of circuits in a stored result, with everything that decides whether they can be compared.
import { storableText } from '../json/json-guard.js'
import type { Counts } from './statistics/count-pair.js'

/** Facts about a result that the result itself does not contain. */
export interface RunFacts {
  /** Whether the backend is a quantum computer, whose behaviour drifts. */
  hardware: boolean
  /** Whether the backend is a local simulator (it has an engine), not one at a provider. */
  local: boolean
  /** When the job completed, ISO 8601. */
  completedAt: string | null
}

/** The providers whose backends are simulators of the service's own, as the catalogue names them. */
export const localProviders: ReadonlySet<string> = new Set(['Local', 'Local GPU'])

/** The source of a circuit's counts when the process that reported them also ran the user's code. */
export const PROGRAM_REPORTED = 'program_reported'

/** The source of counts that a simulator in the reader's own browser drew. The service never stores them. */
export const BROWSER_SAMPLED = 'browser_sampled'

export interface RunCounts {
  counts: Counts
  /** The number that the run reported. Counts that a program returned report none, so their sum. */
  shots: number | null
  /** Who produced the counts from the measurements. A program can return anything. */
  madeBy: 'service' | 'program'
  /**
   * `simulator_sampled`, `provider_counts`, `provider_measurements` or `probability_derived`; `program_reported` for
   * counts of a circuit that the program's own process reported; `null` for counts in a value that it returned.
   */
  countSource: string | null
  bitOrder: string | null
  /** Names and sizes of the classical registers in the result. */
  registers: unknown
  circuitSha256: string | null
  engine: string | null
  engineVersion: string | null
  frameworkVersion: string | null
  seed: number | null
  /** Whether it is a local simulator with a seed, whose counts repeat exactly. */
  deterministic: boolean
  hardware: boolean
  local: boolean
  calibrationId: string | null
  completedAt: string | null
}

/** How many circuits of one result are read at most. */
export const CIRCUITS_MAX = 1000
const DEPTH_MAX = 64
const bits = /^[01]+( [01]+)*$/
/** The outcomes of analog programs: a letter for each site. A program's own words are none, so only the service's count. */
const sites = /^[egr]+$/
const SITE_ORDER = 'site order'
/**
 * Members that are not counts wherever they appear, although the probability of a certain outcome is the whole number
 * 1.
 */
const probabilities = new Set(['probabilities', 'quasi_dists', 'quasi_probabilities'])
/** Members of a result that the service adds, or that are never counts. */
const notTheProgram = new Set([
  'shots',
  'backend',
  'execution_time_ms',
  'warnings',
  'metadata',
  'stdout',
  'circuit_info',
  'probabilities',
  'state_vector',
  'expectation_values',
  '_workflow_metadata'
])

/** What a verification reads of a stored result. */
export interface RunReading {
  /**
   * By the JSON pointer to their counts ('' for the result's own `counts`). A circuit's result has one. The return value of
   * a program or workflow can hold any number, each an object from bit strings to whole numbers.
   */
  circuits: Map<string, RunCounts>
  /** Of a sweep, what the metadata of all points say alike. */
  metadata: Readonly<Record<string, unknown>>
  /**
   * What fixes the randomness of the run, as text: its seed, or those of the points of a sweep. `null` where nothing does: the
   * randomness of other backends than the local simulators cannot be fixed.
   */
  seeds: string | null
  facts: RunFacts
}

/**
 * @param text JSON of a completed job's result.
 * @throws Error when it is not a JSON object.
 */
export function readRun(text: string, facts: RunFacts): RunReading {
  const result: unknown = JSON.parse(text)
  if (!isObject(result)) throw new Error('a result is a JSON object')
  const metadata = isObject(result.metadata) ? result.metadata : {}
  const points =
    metadata.sweep === true && Array.isArray(result.points) ? (result.points as Record<string, unknown>[]) : null
  const seeds = facts.local ? seedsOf(points?.filter(({ error }) => error === undefined) ?? [result]) : null
  if (!points) return { circuits: circuitsOfRun(result, facts), metadata, seeds, facts }
  // Each point is a run with metadata of its own.
  const runs = points.flatMap(({ index, params, ...point }) =>
    [...circuitsOfRun(point, facts)].map(([pointer, run]) => [`/points/${index}${pointer}`, run] as const)
  )
  return { circuits: new Map(runs.slice(0, CIRCUITS_MAX)), metadata, seeds, facts }
}

/** The seeds of all runs; `null` when one of them has none. */
function seedsOf(runs: readonly Record<string, unknown>[]): string | null {
  const seeds = runs.map(({ metadata }) => (isObject(metadata) ? wholeOf(metadata.seed) : null))
  return seeds.length === 0 || seeds.includes(null) ? null : seeds.join()
}

function circuitsOfRun(result: Record<string, unknown>, facts: RunFacts): Map<string, RunCounts> {
  const metadata = isObject(result.metadata) ? result.metadata : {}
  const source = textOf(metadata.count_source)
  const found = new Map<string, RunCounts>()
  if (source !== null) {
    const counts = countsOf(result.counts, metadata.bit_order === SITE_ORDER ? sites : bits)
    if (counts) found.set('', { ...known(metadata, facts), counts, shots: wholeOf(metadata.shots_observed) })
    return found
  }
  const add = (pointer: string, counts: Counts): void => {
    if (found.size < CIRCUITS_MAX)
      found.set(pointer, { ...known(metadata, facts), counts, shots: sumOf(counts), madeBy: 'program' })
  }
  const own = Object.entries(result).filter(([name]) => !notTheProgram.has(name))
  // A program's whole return value is stored among the service's own members.
  const whole = countsOf(Object.fromEntries(own.filter(([name]) => bits.test(name))))
  if (whole) add('', whole)
  for (const [name, value] of own) if (!bits.test(name)) search(value, `/${escaped(name)}`, 1, add)
  return found
}

/** The one circuit of a result; `null` when it has none or several. */
export function runCounts(text: string, facts: RunFacts): RunCounts | null {
  const found = [...readRun(text, facts).circuits.values()]
  return found.length === 1 ? found[0]! : null
}

function known(metadata: Record<string, unknown>, facts: RunFacts): Omit<RunCounts, 'counts' | 'shots'> {
  const seed = wholeOf(metadata.seed)
  return {
    madeBy: metadata.count_source === PROGRAM_REPORTED ? 'program' : 'service',
    countSource: textOf(metadata.count_source),
    bitOrder: textOf(metadata.bit_order),
    registers: metadata.registers ?? null,
    circuitSha256: textOf(metadata.circuit_sha256),
    engine: textOf(metadata.engine),
    engineVersion: textOf(metadata.engine_version),
    frameworkVersion: textOf(metadata.framework_version),
    seed,
    deterministic: facts.local && seed !== null,
    hardware: facts.hardware,
    local: facts.local,
    calibrationId: textOf(metadata.calibration_id),
    completedAt: facts.completedAt
  }
}

function search(value: unknown, pointer: string, depth: number, add: (pointer: string, counts: Counts) => void): void {
  if (depth > DEPTH_MAX || typeof value !== 'object' || value === null) return
  const counts = countsOf(value)
  if (counts) {
    add(pointer, counts)
    return
  }
  for (const [name, part] of Object.entries(value))
    if (!probabilities.has(name)) search(part, `${pointer}/${escaped(name)}`, depth + 1, add)
}

/** Reads a value as counts; `null` when it is anything else. */
function countsOf(value: unknown, outcomes = bits): Counts | null {
  if (!isObject(value)) return null
  let width = -1
  let sum = 0
  for (const outcome in value) {
    const count = value[outcome]
    if (width === -1) width = outcome.length
    if (outcome.length !== width || !outcomes.test(outcome)) return null
    if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0) return null
    sum += count
  }
  return sum > 0 && Number.isSafeInteger(sum) ? (value as Counts) : null
}

const sumOf = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

// The text becomes part of reports, which the database stores.
const textOf = (value: unknown): string | null => (typeof value === 'string' ? storableText(value) : null)

const wholeOf = (value: unknown): number | null => (Number.isSafeInteger(value) ? (value as number) : null)
