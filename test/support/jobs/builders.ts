// Programs and submissions that many tests need, with defaults for everything that the reader need not see.

export const bellQasm3 = (): string => `OPENQASM 3.0;
include "stdgates.inc";
qubit[2] q;
bit[2] c;
h q[0];
cx q[0], q[1];
c = measure q;
`

/** X on qubit 0 of 3. The counts are `100`, since qubit 0 is leftmost. */
export const asymmetricQasm3 = (): string => `OPENQASM 3.0;
include "stdgates.inc";
qubit[3] q;
bit[3] c;
x q[0];
c = measure q;
`

export const asymmetricQasm2 = (): string => `OPENQASM 2.0;
include "qelib1.inc";
qreg q[3];
creg c[3];
x q[0];
measure q -> c;
`

export const asymmetricQiskit = (): string => `from qiskit import QuantumCircuit

circuit = QuantumCircuit(3, 3)
circuit.x(0)
circuit.measure([0, 1, 2], [0, 1, 2])
`

export const asymmetricCirq = (): string => `import cirq

qubits = cirq.LineQubit.range(3)
circuit = cirq.Circuit(cirq.X(qubits[0]), cirq.measure(*qubits, key="c"))
`

/**
 * The body of a submission: a Bell pair, 100 shots, `direct`, on the free `local` backend. `undefined` omits a field.
 */
export function submission(changes: Record<string, unknown> = {}): Record<string, unknown> {
  const body: Record<string, unknown> = {
    inline_code: bellQasm3(),
    framework: 'openqasm',
    backend: 'local',
    params: { shots: 100 },
    ...changes
  }
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}

/** A Qiskit program that takes this long before it has a circuit. */
export const slowQiskit = (seconds: number): string => `import time
from qiskit import QuantumCircuit

time.sleep(${seconds})
circuit = QuantumCircuit(1)
circuit.x(0)
`
