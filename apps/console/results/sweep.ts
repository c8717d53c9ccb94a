// The values of a sweep's points, read from the text of its result for a plot against one of its parameters.
import { jsonFields, jsonItems } from '../../../domain/json/json-text.js'
import type { Reading } from './counts.js'

export interface SweepResult {
  /** Names of the parameters that are not the same at every point, in the order in which the points name them. */
  parameters: readonly string[]
  /** How many points have no result. */
  failed: number
  points: readonly PointValues[]
}

interface PointValues {
  index: number
  /** Numbers and texts; other parameters cannot be an axis. */
  params: ReadonlyMap<string, number | string>
  /** By observable, or `value` of a program that returned a number. */
  values: ReadonlyMap<string, { value: number; error: number | null }>
}

export interface SweepPoint {
  /** The parameter; points whose parameter is a text stand next to each other in their order. */
  x: number | string
  y: number
  /** The standard error; `null` where it is not known, 0 of an exact value. */
  error: number | null
}

export interface SweepSeries {
  name: string
  points: readonly SweepPoint[]
}

export interface SweepData {
  parameter: string
  series: readonly SweepSeries[]
  /** How many more series the sweep has. */
  leftOut?: number
}

/** The limit of the service. */
const POINTS_MAX = 1_000
const RETURNED = 'value'

/** @param text the JSON text of a job's result; @returns `null` when the job is not a sweep. */
export function readSweep(text: string): Reading<SweepResult> | null {
  try {
    const fields = jsonFields(text)
    if (jsonFields(fields.get('metadata') ?? '{}').get('sweep') !== 'true') return null
    const items = jsonItems(fields.get('points') ?? '[]')
    if (items.length > POINTS_MAX) return { kind: 'refused', reason: `the sweep has more than ${POINTS_MAX} points` }
    const points = items.map(pointValues)
    const failed = items.filter((item) => jsonFields(item).has('error')).length
    return { kind: 'read', value: { parameters: varying(points), failed, points } }
  } catch {
    return { kind: 'refused', reason: 'the points of the sweep cannot be read' }
  }
}

/** @param parameter the axis; `null` for the number of the point. */
export function sweepData({ points }: SweepResult, parameter: string | null): SweepData {
  const series = new Map<string, SweepPoint[]>()
  for (const { index, params, values } of points) {
    const x = parameter === null ? index : params.get(parameter)
    if (x === undefined) continue
    for (const [name, { value, error }] of values) {
      const known = series.get(name) ?? []
      known.push({ x, y: value, error })
      series.set(name, known)
    }
  }
  return {
    parameter: parameter ?? 'point',
    series: [...series].map(([name, points]) => ({ name, points }))
  }
}

function pointValues(text: string, place: number): PointValues {
  const fields = jsonFields(text)
  const params = new Map<string, number | string>()
  for (const [name, value] of jsonFields(fields.get('params') ?? '{}')) {
    const parsed: unknown = /^["\-\d]/.test(value) ? JSON.parse(value) : null
    if (typeof parsed === 'number' || typeof parsed === 'string') params.set(name, parsed)
  }
  const index = Number(fields.get('index') ?? place)
  return { index, params, values: valuesOf(fields) }
}

function valuesOf(fields: ReadonlyMap<string, string>): PointValues['values'] {
  const values = new Map<string, { value: number; error: number | null }>()
  const observed = fields.get('expectation_values')
  if (observed?.startsWith('[')) {
    for (const item of jsonItems(observed)) {
      const { observable, value, standard_error } = JSON.parse(item) as Record<string, unknown>
      if (typeof observable === 'string' && typeof value === 'number')
        values.set(observable, { value, error: typeof standard_error === 'number' ? standard_error : null })
    }
    return values
  }
  const returned = fields.get(RETURNED)
  if (returned !== undefined && /^-?\d/.test(returned)) values.set(RETURNED, { value: Number(returned), error: null })
  return values
}

function varying(points: readonly PointValues[]): string[] {
  const seen = new Map<string, Set<number | string>>()
  for (const { params } of points)
    for (const [name, value] of params) seen.set(name, (seen.get(name) ?? new Set()).add(value))
  return [...seen].flatMap(([name, values]) => (values.size > 1 ? [name] : []))
}
