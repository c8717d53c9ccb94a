// Angles as people write them: as a fraction of π where they are one.

const DENOMINATORS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 32, 64, 128, 256, 512, 1024]
const NUMERATOR_MAX = 64
/** Relative; an angle that a program computes in doubles differs from the fraction by less. */
const NEAR = 1e-12

/** `π/4`, `-3π/8`, `0.1235`: short, for a box. */
export const angleText = (angle: number): string => fractionOfPi(angle, NEAR) ?? String(Number(angle.toPrecision(4)))

/** For a title: all digits, unless the fraction has the same ones. */
export function exactAngleText(angle: number): string {
  return fractionOfPi(angle, 2 * Number.EPSILON) ?? String(angle)
}

function fractionOfPi(angle: number, near: number): string | null {
  if (angle === 0) return '0'
  const size = Math.abs(angle)
  for (const denominator of DENOMINATORS) {
    const numerator = Math.round((size / Math.PI) * denominator)
    if (numerator === 0 || numerator > NUMERATOR_MAX) continue
    const fraction = (numerator * Math.PI) / denominator
    if (Math.abs(fraction - size) > near * size) continue
    return `${angle < 0 ? '-' : ''}${numerator === 1 ? '' : numerator}π${denominator === 1 ? '' : `/${denominator}`}`
  }
  return null
}
