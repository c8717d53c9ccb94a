// One page of a list whose total is known.

/** Totals are exact up to this number. Counting further would read every row for a number that few readers need. */
export const TOTAL_MAX = 10_000

export interface Page {
  limit: number
  offset: number
}

/** The closing fields of a list's body. @param total counted no further than `TOTAL_MAX + 1`. */
export const pageView = (total: number, { limit, offset }: Page) => ({
  total: Math.min(total, TOTAL_MAX),
  ...(total > TOTAL_MAX && { total_capped: true as const }),
  limit,
  offset
})

/**
 * What a list adds where its total is capped.
 * @param estimate of all rows; `null` when there is none. Two of its digits are given: the statistics know no more.
 */
export const estimateView = (estimate: number | null) =>
  estimate === null ? {} : { total_estimate: Math.max(Number(estimate.toPrecision(2)), TOTAL_MAX) }
