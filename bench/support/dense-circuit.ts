// A circuit whose state fills its register: what a simulator of state vectors spends its time on.

/** OpenQASM 3 of `depth` layers, each a rotation of every qubit and couplings of neighbours. The same text every time. */
export function denseCircuit(qubits: number, depth: number): string {
  // A linear congruential sequence: the angles have to be without pattern, not without predictability.
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
