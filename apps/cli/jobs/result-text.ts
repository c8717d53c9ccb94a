// Formats the result of a job for people. Values are shown exactly as stored, because numbers can be beyond JavaScript's
// range.
import { jsonFields } from '../../../domain/json/json-text.js'
import { listing } from '../terminal/layout.js'
import { plain, plainLine } from '../terminal/untrusted-text.js'
import { countsChart } from './counts-chart.js'
import { pointsText } from './points-text.js'

/** The length of a value beyond which it is cut. */
const VALUE_CHARACTERS_MAX = 1_000
const SUMMARY_LINES_MAX = 50
/** Of an expectation value; `--json` shows all. */
const VALUE_DECIMALS = 6

/** Fields about the run itself, or with their own presentation. */
const notValues = new Set([
  'backend',
  'circuit_info',
  'execution_time_ms',
  'metadata',
  'shots',
  'stdout',
  'warnings',
  '_workflow_metadata'
])

/** @param json the result, exactly as stored. */
export function resultText(json: string): string {
  const fields = jsonFields(json)
  const points = pointsText(fields)
  if (points !== null) return points
  const read = (name: string): unknown => {
    const text = fields.get(name)
    return text === undefined ? undefined : JSON.parse(text)
  }
  const counts = countsOf(read('counts'))
  const summary = summaryText(read('_summary'))
  const observed = observedText(read('expectation_values'))
  const shown = [
    ...(counts ? ['counts', 'probabilities'] : []),
    ...(summary === null ? [] : ['_summary']),
    ...(observed === null ? [] : ['expectation_values'])
  ]
  const values = [...fields].filter(([name]) => !notValues.has(name) && !shown.includes(name))
  const parts: string[] = []
  if (summary) parts.push(summary)
  if (observed) parts.push(observed)
  if (counts)
    parts.push(`${read('shots') ?? sum(counts)} shots, ${orderText(read('metadata'))}\n${countsChart(counts)}`)
  if (values.length > 0) parts.push(listing(values.map(([name, text]) => [plainLine(name), shortened(text)])))
  if (parts.length === 0) parts.push('The result has no counts and no values (--json shows it).')
  const warnings = read('warnings')
  if (Array.isArray(warnings)) for (const warning of warnings) parts.push(`warning: ${plain(String(warning))}`)
  const stdout = read('stdout')
  if (typeof stdout === 'string' && stdout.trimEnd()) parts.push(`printed by the code:\n${plain(stdout.trimEnd())}`)
  return parts.join('\n\n')
}

/** What the places and letters of the outcomes mean. */
const orderText = (metadata: unknown): string =>
  isObject(metadata) && metadata.bit_order === 'site order'
    ? 'site 0 leftmost (e empty, g ground state, r Rydberg state)'
    : 'qubit 0 leftmost'

/** `null` if a program returned something else under this name, which is then shown as a value. */
function countsOf(value: unknown): Record<string, number> | null {
  if (!isObject(value)) return null
  const counts = Object.values(value)
  const are = counts.length > 0 && counts.every((count) => Number.isSafeInteger(count) && (count as number) >= 0)
  return are ? (value as Record<string, number>) : null
}

const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((total, count) => total + count, 0)

/** Labels and texts that the program wants to show first. */
function summaryText(value: unknown): string | null {
  if (!isObject(value)) return null
  const entries = Object.entries(value)
  const lines = listing(
    entries
      .slice(0, SUMMARY_LINES_MAX)
      .map(([label, text]) => [
        plainLine(label),
        shortened(typeof text === 'string' ? text : (JSON.stringify(text) ?? ''))
      ])
  )
  const rest = entries.length - SUMMARY_LINES_MAX
  return rest > 0 ? `${lines}\nand ${rest} more lines (--json shows all)` : lines
}

/** The values of `params.observables`; those that a framework asked for are shown as they are stored. */
function observedText(values: unknown): string | null {
  if (!Array.isArray(values) || values.length === 0) return null
  const lines = values.map((entry): [string, string] | null => {
    if (!isObject(entry) || typeof entry.observable !== 'string' || typeof entry.value !== 'number') return null
    const { observable, value, standard_error: error, method } = entry
    const raw = rawText(entry.raw)
    return [plainLine(observable), `${valueText(value, error)} (${plainLine(String(method))}${raw})`]
  })
  return lines.every((line) => line !== null) ? listing(lines) : null
}

/** The value before its errors were mitigated. */
const rawText = (raw: unknown): string =>
  isObject(raw) && typeof raw.value === 'number' ? `, raw ${valueText(raw.value, raw.standard_error)}` : ''

const valueText = (value: number, error: unknown): string =>
  value.toFixed(VALUE_DECIMALS) + (typeof error === 'number' && error > 0 ? ` ± ${error.toPrecision(2)}` : '')

function shortened(text: string): string {
  const cut = text.slice(0, VALUE_CHARACTERS_MAX)
  return cut.length === text.length ? text : `${cut.replace(/[\ud800-\udbff]$/, '')}... (--json shows all)`
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
