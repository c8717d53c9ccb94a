// Money is an integer of micro-USD (bigint) internally, and a number of USD with at most six decimals in JSON.

export type MicroUsd = bigint

const MICRO_PER_USD = 1_000_000n
// Above this, a JSON number of USD cannot carry six exact decimals.
const USD_MAX = 1_000_000_000

/**
 * Converts a JSON number of USD to micro-USD. Returns `null` for a number that is not finite, negative, above a
 * billion, or finer than a micro-dollar: rounding a price or limit would silently change it.
 */
export function microFromUsd(usd: unknown): MicroUsd | null {
  if (typeof usd !== 'number' || !Number.isFinite(usd) || usd < 0 || usd > USD_MAX) return null
  // The shortest decimal text of the number is what the caller wrote; toString uses exponents below 1e-6.
  const match = /^(\d+)(?:\.(\d{1,6}))?$/.exec(String(usd))
  if (!match) return null
  return BigInt(match[1]!) * MICRO_PER_USD + BigInt((match[2] ?? '').padEnd(6, '0'))
}

/** USD as a JSON number. It is exact: below a billion dollars, a double carries six decimals. */
export const usdFromMicro = (micro: MicroUsd): number => Number(micro) / 1e6

/** Formats an amount for messages, with two to six decimals: `$12.50`, `$0.000350`. */
export function formatUsd(micro: MicroUsd): string {
  const sign = micro < 0n ? '-' : ''
  const absolute = micro < 0n ? -micro : micro
  const decimals = (absolute % MICRO_PER_USD).toString().padStart(6, '0')
  const shown = decimals.endsWith('0000') ? decimals.slice(0, 2) : decimals
  return `${sign}$${absolute / MICRO_PER_USD}.${shown}`
}
