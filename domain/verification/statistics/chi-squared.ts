// The upper tail of chi-square: the regularised upper incomplete gamma function Q(df/2, x/2), by its power series below
// the mean and by its continued fraction (Lentz's method) above. It is implemented here because the packages that were
// tried lose digits from about a thousand degrees of freedom on, which results spread over many outcomes have:
// @stdlib/math-base-special-gammainc 0.3.1 is off by 1.8 % at 4,095.

const EPSILON = 1e-16
/** Both expansions need a number of terms proportional to the root of df. */
const TERMS_MAX = 1_000_000

/**
 * The probability that chi-square with that many degrees of freedom (from 1) exceeds `x`; 0 where it is below 1e-308.
 */
export function chiSquareTail(x: number, degreesOfFreedom: number): number {
  if (x <= 0) return 1
  const [a, z] = [degreesOfFreedom / 2, x / 2]
  const front = Math.exp(a * Math.log(z) - z - logGamma(a))
  return z < a + 1 ? 1 - front * lowerSeries(a, z) : front * upperFraction(a, z)
}

/**
 * The `p` quantile of the standard normal distribution, 0.5 <= p < 1: the root of a chi-square quantile, by bisection.
 */
export function normalQuantile(p: number): number {
  let [low, high] = [0, 40]
  for (let halving = 0; halving < 60; halving++) {
    const middle = (low + high) / 2
    if (chiSquareTail(middle * middle, 1) > 2 * (1 - p)) low = middle
    else high = middle
  }
  return high
}

function lowerSeries(a: number, z: number): number {
  let term = 1 / a
  let sum = term
  for (let k = 1; k < TERMS_MAX && term > sum * EPSILON; k++) {
    term *= z / (a + k)
    sum += term
  }
  return sum
}

function upperFraction(a: number, z: number): number {
  let b = z + 1 - a
  let c = 1e300
  let d = 1 / b
  let result = d
  for (let k = 1; k < TERMS_MAX; k++) {
    const an = -k * (k - a)
    b += 2
    d = 1 / (an * d + b)
    c = b + an / c
    const step = c * d
    result *= step
    if (Math.abs(step - 1) < EPSILON * 4) break
  }
  return result
}

/** The natural logarithm of the gamma function of a > 0, by Stirling's series; small arguments are raised first. */
function logGamma(a: number): number {
  let [raised, product] = [a, 1]
  while (raised < 20) {
    product *= raised
    raised += 1
  }
  const inverse = 1 / raised
  const square = inverse * inverse
  const series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))))
  return (raised - 0.5) * Math.log(raised) - raised + 0.5 * Math.log(2 * Math.PI) + series - Math.log(product)
}
