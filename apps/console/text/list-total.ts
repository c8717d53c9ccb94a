// How many rows a list has, as people read it.
import { groupedDigits } from './exact-numbers.js'

/** What each page of a list says of the whole. */
export interface ListTotal {
  total: number
  total_capped?: boolean
  total_estimate?: number
}

/** `1,024`, `at least 10,000`, `about 5,700,000` */
export const totalText = ({ total, total_capped, total_estimate }: ListTotal): string => {
  if (total_estimate !== undefined) return `about ${groupedDigits(total_estimate)}`
  return `${total_capped ? 'at least ' : ''}${groupedDigits(total)}`
}

/** `200 of about 5,700,000 jobs` @param noun in the plural. */
export const shownText = (shown: number, list: ListTotal, noun: string): string =>
  `${groupedDigits(shown)} of ${totalText({ ...list, total: Math.max(list.total, shown) })} ${noun}`
