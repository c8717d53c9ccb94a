// One page of a list whose total is known.

/** How far totals are counted exactly; counting further would read every row for a number that nobody needs. */
export const TOTAL_MAX = 10_000

export interface Page {
  limit: number
  offset: number
}

/** The end of a list's body. @param total counted no further than `TOTAL_MAX + 1`. */
export const pageView = (total: number, { limit, offset }: Page) => ({
  total: Math.min(total, TOTAL_MAX),
  ...(total > TOTAL_MAX && { total_capped: true as const }),
  limit,
  offset
})
