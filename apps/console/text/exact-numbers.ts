// Counts as people read them. A count can be larger than a JavaScript number can hold, so all of this is done in bigints.

/** `9,007,199,254,740,993` */
export const groupedDigits = (value: bigint | number): string => String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',')

/** `50.3 %`. A share that is not 0 or 1 never looks as if it were. */
export function percentText(count: bigint, total: bigint): string {
  if (total === 0n) return '0 %'
  if (count === 0n || count === total) return count === 0n ? '0 %' : '100 %'
  const perMille = (2000n * count + total) / (2n * total)
  if (perMille === 0n) return '< 0.1 %'
  if (perMille === 1000n) return '> 99.9 %'
  return `${perMille / 10n}.${perMille % 10n} %`
}

/** `1 outcome`, `1,024 outcomes` */
export const numbered = (count: bigint | number, noun: string): string =>
  `${groupedDigits(count)} ${noun}${count === 1 || count === 1n ? '' : 's'}`
