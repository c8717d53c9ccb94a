// The two jobs of a comparison, as its address holds them.

/** In the place of the id of job a: the run in this browser, which no address holds. */
export const BROWSER = 'browser'

export interface CompareSearch {
  a?: string
  b?: string
  /** The number of one point, where the job is a sweep; without it all of its points are compared. */
  a_point?: number
  b_point?: number
  /** The tolerated distance; the service's own where it is left out. */
  margin?: number
}

export function readCompare(given: Record<string, unknown>): CompareSearch {
  const texts = (['a', 'b'] as const).filter((name) => typeof given[name] === 'string' && given[name] !== '')
  const numbers = (['a_point', 'b_point', 'margin'] as const).filter((name) => typeof given[name] === 'number')
  return Object.fromEntries([...texts, ...numbers].map((name) => [name, given[name]]))
}

/** @param text as typed: a point without a number is none. What is not a point is for the service to refuse. */
export function pointOf(side: 'a' | 'b', text: string): CompareSearch {
  const point = Number(text)
  return text === '' || Number.isNaN(point) ? {} : { [`${side}_point`]: point }
}

/** What the request names: a job, or one of its points. */
export const selectorOf = (id: string, point: number | undefined): string | { job_id: string; point: number } =>
  point === undefined ? id : { job_id: id, point }
