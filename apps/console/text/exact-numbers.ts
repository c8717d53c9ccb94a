// Counts as people read them. A count can be larger than a JavaScript number can hold, so all of this is done in bigints.

/** `9,007,199,254,740,993` */
export const groupedDigits = (value: bigint | number): string => String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',')

/** `50.3 %`, `0.64 %`. A share that is not 0 or 1 never looks as if it were. */
export function percentText(count: bigint, total: bigint): string {
  if (count === 0n || total === 0n) return '0 %'
  if (count === total) return '100 %'
  const hundredths = rounded(10_000n * count, total)
  if (hundredths === 0n) return '< 0.01 %'
  if (hundredths < 1_000n) return decimal(hundredths, 2)
  const tenths = rounded(1_000n * count, total)
  return tenths === 1_000n ? '> 99.9 %' : decimal(tenths, 1)
}

const rounded = (value: bigint, divisor: bigint): bigint => (2n * value + divisor) / (2n * divisor)

function decimal(value: bigint, places: number): string {
  const digits = String(value).padStart(places + 1, '0')
  return `${digits.slice(0, -places)}.${digits.slice(-places)} %`
}

/** `1 outcome`, `1,024 outcomes` */
export const numbered = (count: bigint | number, noun: string): string =>
  `${groupedDigits(count)} ${plural(count, noun)}`

/** The noun for a count: `outcome` for 1, otherwise `outcomes`. */
export const plural = (count: bigint | number, noun: string): string =>
  count === 1 || count === 1n ? noun : `${noun}s`
