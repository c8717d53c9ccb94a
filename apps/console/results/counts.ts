// The counts of a result, read from its text without rounding. An outcome is a key of the program's own making, so it
// never becomes a property of an object, and a count can be larger than a JavaScript number can hold.
import { jsonFields } from '../../../domain/json/json-text.js'

export interface OutcomeCount {
  outcome: string
  count: bigint
}

export interface Counts {
  /** The most frequent first, at most OUTCOMES_KEPT_MAX. Among equals the smaller outcome is first. */
  outcomes: readonly OutcomeCount[]
  /** The sum of all counts, of those left out as well. */
  total: bigint
  leftOut: { outcomes: number; count: bigint }
}

/** A part of the outcome; the registers follow each other from left to right, bit 0 of each leftmost. */
export interface Register {
  name: string
  size: number
  /** The qubit that each bit was measured from, where one measurement writes it. */
  qubits: readonly number[] | null
}

/** How the characters of an outcome are ordered. `unstated`: the program returned the counts as its own value. */
export type OutcomeOrder = 'qubit 0 leftmost' | 'site order' | 'unstated'

export interface ResultCounts {
  counts: Counts
  order: OutcomeOrder
  /** Empty where the result states none, or none that fit its outcomes; `note` then says so. */
  registers: readonly Register[]
  note: string | null
}

export type Reading<Value> = { kind: 'read'; value: Value } | { kind: 'refused'; reason: string }

/** The service counts at most as many outcomes of a circuit; a program can return more. */
export const OUTCOMES_KEPT_MAX = 100_000
/** The largest result that the service stores. */
const TEXT_CHARACTERS_MAX = 16 * 1024 * 1024
const COUNT_MAX = 2n ** 63n
const NAME_CHARACTERS_MAX = 200
const SHOWN_CHARACTERS_MAX = 40

const refused = (reason: string): { kind: 'refused'; reason: string } => ({ kind: 'refused', reason })

/** @param text the JSON text of an object from outcomes to whole numbers. */
export function readCounts(text: string): Reading<Counts> {
  if (text.length > TEXT_CHARACTERS_MAX) return refused('the counts are too long to be read here; download the result')
  const fields = fieldsOf(text)
  if (fields === null) return refused('the counts are not an object from outcomes to whole numbers')
  const entries: [string, bigint][] = []
  for (const [outcome, value] of fields) {
    const count = wholeNumber(value)
    if (count === null) return refused(`the count of ${shortened(outcome)} is ${shortened(value)}, not a whole number`)
    if (count > COUNT_MAX) return refused(`the count of ${shortened(outcome)} is larger than 2^63`)
    entries.push([outcome, count])
  }
  return { kind: 'read', value: countsFrom(entries) }
}

/** @param entries each outcome once, with its exact count. */
export function countsFrom(entries: Iterable<readonly [outcome: string, count: bigint | number | string]>): Counts {
  let [total, seen] = [0n, 0]
  let head: OutcomeCount[] = []
  for (const [outcome, given] of entries) {
    const count = BigInt(given)
    total += count
    seen += 1
    head.push({ outcome, count })
    if (head.length >= 2 * OUTCOMES_KEPT_MAX) head = mostFrequent(head)
  }
  const outcomes = mostFrequent(head)
  const kept = outcomes.reduce((sum, { count }) => sum + count, 0n)
  return { outcomes, total, leftOut: { outcomes: seen - outcomes.length, count: total - kept } }
}

/**
 * The counts of a circuit's result with what its metadata says of them; `null` where it has no counts.
 * @param text the JSON text of a job's result, or of one point of a sweep.
 */
export function readResultCounts(text: string): Reading<ResultCounts> | null {
  const fields = fieldsOf(text)
  const countsText = fields?.get('counts')
  if (!fields || countsText === undefined) return null
  const reading = readCounts(countsText)
  if (reading.kind === 'refused') return reading
  const counts = reading.value
  const metadata = fieldsOf(fields.get('metadata') ?? '') ?? new Map<string, string>()
  const order = orderOf(metadata)
  const stated = metadata.get('registers') ?? fieldsOf(fields.get('circuit_info') ?? '')?.get('registers')
  // The order of a program's own outcomes is not known, so neither is where they split.
  const registers = order === 'qubit 0 leftmost' ? registersOf(stated ?? 'null') : []
  const bits = registers.reduce((sum, { size }) => sum + size, 0)
  const misfit = counts.outcomes.find(({ outcome }) => outcome.length !== bits || /[^01]/.test(outcome))
  const isSplit = registers.length > 0 && !misfit
  const note =
    registers.length > 0 && misfit
      ? `The registers of the result have ${bits} bits, which the outcome ${shortened(misfit.outcome)} has not: outcomes are shown unsplit.`
      : null
  return { kind: 'read', value: { counts, order, registers: isSplit ? registers : [], note } }
}

function orderOf(metadata: ReadonlyMap<string, string>): OutcomeOrder {
  if (!metadata.get('count_source')?.startsWith('"')) return 'unstated'
  const order = metadata.get('bit_order')
  return order === '"qubit 0 leftmost"' ? 'qubit 0 leftmost' : order === '"site order"' ? 'site order' : 'unstated'
}

/** The registers as the service writes them: `[{ "name", "size", "qubits"? }]`; none where one is written otherwise. */
function registersOf(text: string): Register[] {
  const items = parsed(text)
  if (!Array.isArray(items)) return []
  const registers = items.flatMap((item: unknown): Register[] => {
    const { name, size, qubits } = (item ?? {}) as Record<string, unknown>
    if (typeof name !== 'string' || !isIndex(size) || size === 0) return []
    const known = Array.isArray(qubits) && qubits.length === size && qubits.every(isIndex)
    return [{ name: name.slice(0, NAME_CHARACTERS_MAX), size, qubits: known ? (qubits as number[]) : null }]
  })
  return registers.length === items.length ? registers : []
}

const isIndex = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/** `null` when the text is not JSON, for example because it was cut off. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** `null` when the text is not a JSON object. */
function fieldsOf(text: string): Map<string, string> | null {
  try {
    return jsonFields(text)
  } catch {
    return null
  }
}

/** Python writes a whole float as `10.0`. An exponent is the sign of a rounded number, so it is none. */
function wholeNumber(text: string): bigint | null {
  const [, digits] = /^(\d{1,20})(?:\.0+)?$/.exec(text) ?? []
  return digits === undefined ? null : BigInt(digits)
}

const mostFrequent = (outcomes: OutcomeCount[]): OutcomeCount[] =>
  outcomes.sort(byFrequency).slice(0, OUTCOMES_KEPT_MAX)

const byFrequency = (one: OutcomeCount, other: OutcomeCount): number =>
  one.count === other.count ? (one.outcome < other.outcome ? -1 : 1) : one.count > other.count ? -1 : 1

const shortened = (text: string): string =>
  text.length <= SHOWN_CHARACTERS_MAX ? text : `${text.slice(0, SHOWN_CHARACTERS_MAX).toWellFormed()}…`
