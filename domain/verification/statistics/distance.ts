// How far apart two runs are. The figures are for display; none is a test. Two runs of one distribution also differ,
// the more the fewer shots and the more outcomes they have.
import type { CountPair } from './count-pair.js'

/** Total variation distance of the two relative frequencies, 0 to 1. */
export const totalVariation = ({ n, m, cells }: CountPair): number =>
  0.5 * cells.reduce((sum, { x, y, times }) => sum + times * Math.abs(x / n - y / m), 0)

/** `(Σ √(p q))²`, as Qiskit's `hellinger_fidelity`; 1 for equal frequencies. */
export const hellingerFidelity = ({ n, m, cells }: CountPair): number =>
  cells.reduce((sum, { x, y, times }) => sum + times * Math.sqrt((x / n) * (y / m)), 0) ** 2
