// What the page shows of a sweep, piece by piece: a result can have 1,000 points and 16 MiB, so it is read in a worker
// (sweep.worker.ts), and the page gets what it has room for.
import { jsonFields, jsonItems } from '../../../domain/json/json-text.js'
import { type Reading, type ResultCounts, readResultCounts } from './counts.js'
import { observedText } from './observables.js'
import { readPoint } from './points.js'
import { type ProvenanceFact, readProvenance } from './provenance.js'
import { readSweep, type SweepData, sweepData } from './sweep.js'

export interface SweepOverview {
  points: number
  /** How many points have no result. */
  failed: number
  /** The first of those that are not the same at every point. */
  parameters: readonly string[]
  hasCounts: boolean
  /** What the metadata of all points say alike. */
  provenance: readonly ProvenanceFact[]
}

/** A point as a line of the table. Long texts are cut; the result has all of them. */
export interface PointRow {
  index: number
  params: string
  values: string
  error: string
}

export interface SweepReader {
  overview: SweepOverview
  /** @param parameter the axis; `null` for the number of the point. At most SERIES_MAX series. */
  plot(parameter: string | null): SweepData
  rows(from: number, to: number): PointRow[]
  /** Of the point with this number; `null` where it has none. */
  counts(index: number): Reading<ResultCounts> | null
  /** Of the point with this number. */
  provenance(index: number): ProvenanceFact[]
}

/** As many as a plot draws. */
const SERIES_MAX = 6
const PARAMETERS_MAX = 50
const CELL_CHARACTERS_MAX = 2_000

/** @param text the JSON text of a job's result. @returns `null` when the job is not a sweep. */
export function openSweep(text: string): Reading<SweepReader> | null {
  const reading = readSweep(text)
  if (reading?.kind !== 'read') return reading
  const sweep = reading.value
  const items = jsonItems(jsonFields(text).get('points') ?? '[]')
  const overview = {
    points: items.length,
    failed: sweep.failed,
    parameters: sweep.parameters.slice(0, PARAMETERS_MAX),
    hasCounts: items.some((item) => item.includes('"counts"')),
    provenance: readProvenance(text)
  }
  const itemOf = (index: number) => items[sweep.points.findIndex((point) => point.index === index)]
  return {
    kind: 'read',
    value: {
      overview,
      plot(parameter) {
        const { series, ...data } = sweepData(sweep, parameter)
        return { ...data, series: series.slice(0, SERIES_MAX), leftOut: Math.max(0, series.length - SERIES_MAX) }
      },
      rows: (from, to) => items.slice(from, to).map((item, at) => rowOf(item, from + at)),
      counts(index) {
        const item = itemOf(index)
        return item === undefined ? null : readResultCounts(item)
      },
      provenance: (index) => readProvenance(itemOf(index) ?? '')
    }
  }
}

function rowOf(item: string, place: number): PointRow {
  const { index, params, observables, value, error } = readPoint(item, place)
  const values =
    observables.length > 0 ? observables.map((one) => `${one.name}: ${observedText(one)}`).join('; ') : (value ?? '–')
  return { index, params: cut(params), values: cut(values), error: cut(error ?? '') }
}

const cut = (text: string): string =>
  text.length <= CELL_CHARACTERS_MAX ? text : `${text.slice(0, CELL_CHARACTERS_MAX).toWellFormed()}…`
