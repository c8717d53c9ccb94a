// Shows the points of a sweep as a table: the parameters of each, and its result in one cell.
import { jsonFields, jsonItems } from '../../../domain/json/json-text.js'
import { table } from '../terminal/layout.js'
import { mostFrequentFirst } from './counts-chart.js'

/** `--json` shows all. */
const ROWS_MAX = 100
const OUTCOMES_SHOWN = 4
const CELL_CHARACTERS_MAX = 200

/** @param result of a sweep, as JSON text; `null` for any other. */
export function pointsText(result: ReadonlyMap<string, string>): string | null {
  const metadata = jsonFields(result.get('metadata') ?? '{}')
  if (metadata.get('sweep') !== 'true') return null
  const points = jsonItems(result.get('points')!)
  const rows = points.slice(0, ROWS_MAX).map((point) => {
    const fields = jsonFields(point)
    return [fields.get('index')!, paramsText(fields.get('params') ?? '{}'), ...outcomeText(fields)]
  })
  const lines = table(
    [
      { heading: 'POINT', right: true },
      { heading: 'PARAMETERS', least: 12 },
      { heading: 'SHOTS', right: true, yields: 1 },
      { heading: 'RESULT', least: 24 }
    ],
    rows
  )
  const rest = points.length - rows.length
  return rest > 0 ? `${lines}\nand ${rest} more points (--json shows all)` : lines
}

const paramsText = (params: string): string =>
  [...jsonFields(params)].map(([name, value]) => `${name}=${shortened(value)}`).join(', ')

/** The cells of the shots and of the result. */
function outcomeText(point: ReadonlyMap<string, string>): [string, string] {
  const error = point.get('error')
  if (error !== undefined) return ['', `failed: ${String(JSON.parse(jsonFields(error).get('message') ?? '""'))}`]
  const shots = point.get('shots') ?? ''
  return [shots === 'null' ? '' : shots, shortened(resultCell(point))]
}

function resultCell(point: ReadonlyMap<string, string>): string {
  const observed = point.get('expectation_values')
  if (observed?.startsWith('[')) return jsonItems(observed).map(observedText).join(', ')
  const counts = point.get('counts')
  if (counts?.startsWith('{')) return countsText(JSON.parse(counts) as Record<string, number>)
  return point.get('value') ?? ''
}

function observedText(text: string): string {
  const { observable, value, standard_error: error } = JSON.parse(text) as Record<string, unknown>
  const spread = typeof error === 'number' && error > 0 ? ` ± ${error.toPrecision(2)}` : ''
  return `${String(observable)} = ${typeof value === 'number' ? Number(value.toPrecision(8)) : String(value)}${spread}`
}

function countsText(counts: Record<string, number>): string {
  const sorted = mostFrequentFirst(counts)
  const shown = sorted.slice(0, OUTCOMES_SHOWN).map(([outcome, count]) => `${outcome}: ${count}`)
  const rest = sorted.length - shown.length
  return [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(', ')
}

const shortened = (text: string): string =>
  text.length <= CELL_CHARACTERS_MAX ? text : `${text.slice(0, CELL_CHARACTERS_MAX).replace(/[\ud800-\udbff]$/, '')}...`
