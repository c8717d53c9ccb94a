// One circuit's counts in a stored result, with all that decides whether they may be compared.
import { storableText } from '../json/json-guard.js'
import type { Counts } from './statistics/count-pair.js'

/** What a result does not say about itself. */
export interface RunFacts {
  /** The backend is a quantum computer, whose behaviour drifts. */
  hardware: boolean
  /** The backend is a simulator of this service's own (it has an engine), not one at a provider. */
  local: boolean
  /** When the job was completed, ISO 8601. */
  completedAt: string | null
}

export interface RunCounts {
  counts: Counts
  /** As the run itself has stated them; of counts that a program returned, which states none, their sum. */
  shots: number | null
  /** Who has made the counts of what was measured: a program may return whatever it likes. */
  madeBy: 'service' | 'program'
  /** `simulator_sampled`, `provider_counts`, `provider_measurements` or `probability_derived`; of a program's own `null`. */
  countSource: string | null
  bitOrder: string | null
  /** Names and sizes of classical registers as the result has them. */
  registers: unknown
  circuitSha256: string | null
  engine: string | null
  engineVersion: string | null
  frameworkVersion: string | null
  seed: number | null
  /** A simulator of ours with a seed: the same again gives the same counts. */
  deterministic: boolean
  hardware: boolean
  local: boolean
  calibrationId: string | null
  completedAt: string | null
}

/** Circuits in one result beyond which the rest is not looked at. */
export const CIRCUITS_MAX = 1000
const DEPTH_MAX = 64
const bits = /^[01]+( [01]+)*$/
/** No counts, wherever they stand: that of an outcome which is certain is the whole number 1. */
const probabilities = new Set(['probabilities', 'quasi_dists', 'quasi_probabilities'])
/** Members of a result that are the service's own, or no counts whatever they look like. */
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

/**
 * The circuits of a result, by where their counts stand in it (a JSON pointer; '' for the result's own `counts`). A result of
 * a circuit has one. What a program or workflow returned may hold any number, each an object from bit strings to whole
 * numbers. @param text JSON of a completed job's result. @throws Error when it is no JSON object.
 */
export function runCircuits(text: string, facts: RunFacts): Map<string, RunCounts> {
  const result: unknown = JSON.parse(text)
  if (!isObject(result)) throw new Error('a result is a JSON object')
  const metadata = isObject(result.metadata) ? result.metadata : {}
  const source = textOf(metadata.count_source)
  const found = new Map<string, RunCounts>()
  if (source !== null) {
    const counts = countsOf(result.counts)
    if (counts) found.set('', { ...known(metadata, facts), counts, shots: wholeOf(metadata.shots_observed) })
    return found
  }
  const add = (pointer: string, counts: Counts): void => {
    if (found.size < CIRCUITS_MAX)
      found.set(pointer, { ...known(metadata, facts), counts, shots: sumOf(counts), madeBy: 'program' })
  }
  const own = Object.entries(result).filter(([name]) => !notTheProgram.has(name))
  // What a program returned as its whole value stands among the service's own members.
  const whole = countsOf(Object.fromEntries(own.filter(([name]) => bits.test(name))))
  if (whole) add('', whole)
  for (const [name, value] of own) if (!bits.test(name)) search(value, `/${escaped(name)}`, 1, add)
  return found
}

/** The one circuit of a result; `null` where it has none or several. */
export function runCounts(text: string, facts: RunFacts): RunCounts | null {
  const found = [...runCircuits(text, facts).values()]
  return found.length === 1 ? found[0]! : null
}

function known(metadata: Record<string, unknown>, facts: RunFacts): Omit<RunCounts, 'counts' | 'shots'> {
  const seed = wholeOf(metadata.seed)
  return {
    madeBy: 'service',
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

/** The value as counts; `null` when it is anything else. */
function countsOf(value: unknown): Counts | null {
  if (!isObject(value)) return null
  let width = -1
  let sum = 0
  for (const outcome in value) {
    const count = value[outcome]
    if (width === -1) width = outcome.length
    if (outcome.length !== width || !bits.test(outcome)) return null
    if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0) return null
    sum += count
  }
  return sum > 0 && Number.isSafeInteger(sum) ? (value as Counts) : null
}

const sumOf = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

// It stands in reports, which the database keeps.
const textOf = (value: unknown): string | null => (typeof value === 'string' ? storableText(value) : null)

const wholeOf = (value: unknown): number | null => (Number.isSafeInteger(value) ? (value as number) : null)
