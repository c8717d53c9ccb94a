// A circuit whose state fills its register, which takes a state-vector simulator the longest.

/** OpenQASM 3 with `depth` layers of a rotation of every qubit and couplings of neighbours. Always the same text. */
export function denseCircuit(qubits: number, depth: number): string {
  // A linear congruential sequence: the angles must have no pattern, but can be predictable.
  let state = 20n
  const angle = () => {
    state = (state * 6364136223846793005n + 1442695040888963407n) % 2n ** 64n
    return (Number(state >> 11n) / 2 ** 53) * 2 * Math.PI
  }
  const lines = ['OPENQASM 3.0;', 'include "stdgates.inc";', `qubit[${qubits}] q;`, `bit[${qubits}] c;`]
  for (let layer = 0; layer < depth; layer++) {
    for (let qubit = 0; qubit < qubits; qubit++) lines.push(`u3(${angle()}, ${angle()}, ${angle()}) q[${qubit}];`)
    for (let qubit = layer % 2; qubit + 1 < qubits; qubit += 2) lines.push(`cx q[${qubit}], q[${qubit + 1}];`)
  }
  return `${[...lines, 'c = measure q;'].join('\n')}\n`
}
