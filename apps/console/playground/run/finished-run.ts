// What a run leaves on the page, wherever it ran.

export interface FinishedRun {
  /** For the legend: the simulator or the backend. */
  where: string
  /** JSON text: the counts with what the result says of them. */
  result: string
  warnings: readonly string[]
  stdout: string
  ms: number | null
  /** What the browser knows beyond the counts. */
  exact: {
    qubits: number
    probabilities: Readonly<Record<string, number>> | null
    amplitudes: readonly (readonly [re: number, im: number])[] | null
  } | null
  /** The OpenQASM that the server made of a Python program, when that ran here. */
  converted: string | null
}
