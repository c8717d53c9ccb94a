// The interval that holds the true probability of an outcome in 95 of 100 experiments (Wilson's score interval). Unlike
// count ± 2 standard errors it stays between 0 and 1, and says something where an outcome was never seen.

/** The quantile of the normal distribution for 95 % on both sides. */
const Z = 1.959963984540054

/** @param shots above 0. */
export function wilsonInterval(count: number, shots: number): [low: number, high: number] {
  const share = count / shots
  const spread = (Z * Z) / shots
  const centre = (share + spread / 2) / (1 + spread)
  const half = (Z * Math.sqrt((share * (1 - share)) / shots + spread / shots / 4)) / (1 + spread)
  return [count === 0 ? 0 : Math.max(0, centre - half), count === shots ? 1 : Math.min(1, centre + half)]
}
