// Money is an integer of micro-USD (bigint) inside, and a number of USD with at most six decimals in JSON.

export type MicroUsd = bigint

const MICRO_PER_USD = 1_000_000n
// Beyond this a JSON number of USD can no longer carry six exact decimals.
const USD_MAX = 1_000_000_000

/**
 * Micro-USD of a JSON number of USD. `null` when it is no finite number, negative, above a billion, or finer than a
 * micro-dollar: rounding somebody's price or limit would be a silent wrong answer.
 */
export function microFromUsd(usd: unknown): MicroUsd | null {
  if (typeof usd !== 'number' || !Number.isFinite(usd) || usd < 0 || usd > USD_MAX) return null
  // The shortest decimal text of the number is what the caller wrote; toString switches to exponents below 1e-6.
  const match = /^(\d+)(?:\.(\d{1,6}))?$/.exec(String(usd))
  if (!match) return null
  return BigInt(match[1]!) * MICRO_PER_USD + BigInt((match[2] ?? '').padEnd(6, '0'))
}

/** USD as a JSON number. Exact: below a billion dollars a double carries six decimals. */
export const usdFromMicro = (micro: MicroUsd): number => Number(micro) / 1e6

/** For messages: `$12.50`, `$0.000350`. At least two decimals, at most six. */
export function formatUsd(micro: MicroUsd): string {
  const sign = micro < 0n ? '-' : ''
  const absolute = micro < 0n ? -micro : micro
  const decimals = (absolute % MICRO_PER_USD).toString().padStart(6, '0')
  const shown = decimals.endsWith('0000') ? decimals.slice(0, 2) : decimals
  return `${sign}$${absolute / MICRO_PER_USD}.${shown}`
}
