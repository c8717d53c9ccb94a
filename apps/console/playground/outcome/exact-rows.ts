/** More rows are shown on demand. */
export const SHOWN_FIRST = 64

/** What rounding leaves of a state that is not there. */
const ZERO = 1e-15

/** The most probable first; among equals in the order of the outcomes. */
export const probabilityRows = (probabilities: Readonly<Record<string, number>>): string[][] =>
  Object.entries(probabilities)
    .sort(([one, of], [other, ofOther]) => ofOther - of || (one < other ? -1 : 1))
    .map(([outcome, probability]) => [outcome, digits(probability)])

/** @param amplitudes by the index whose highest bit is qubit 0. @returns rows of those that are not 0. */
export function amplitudeRows(amplitudes: readonly (readonly [re: number, im: number])[], qubits: number): string[][] {
  return amplitudes.flatMap(([re, im], index) => {
    const probability = re * re + im * im
    if (probability < ZERO) return []
    const state = `|${qubits === 0 ? '' : index.toString(2).padStart(qubits, '0')}⟩`
    return [[state, complex(re, im), digits(probability)]]
  })
}

/** Six significant digits; rounding errors of a simulator are beyond them. */
function digits(value: number): string {
  const rounded = Number(value.toPrecision(6))
  return String(Math.abs(rounded) < 1e-12 ? 0 : rounded).replace('-', '−')
}

function complex(re: number, im: number): string {
  const [real, imaginary] = [digits(re), digits(im)]
  if (imaginary === '0') return real
  if (real === '0') return `${imaginary}i`
  return imaginary.startsWith('−') ? `${real} − ${imaginary.slice(1)}i` : `${real} + ${imaginary}i`
}
