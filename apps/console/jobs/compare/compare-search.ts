// The two jobs of a comparison, as its address holds them.

/** In the place of the id of job a: the run in this browser, which no address holds. */
export const BROWSER = 'browser'

export interface CompareSearch {
  a?: string
  b?: string
  /** The tolerated distance; the service's own where it is left out. */
  margin?: number
}

export function readCompare({ a, b, margin }: Record<string, unknown>): CompareSearch {
  const ids = Object.entries({ a, b }).filter(([, value]) => typeof value === 'string' && value !== '')
  return { ...(Object.fromEntries(ids) as CompareSearch), ...(typeof margin === 'number' && { margin }) }
}
