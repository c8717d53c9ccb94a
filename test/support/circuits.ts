// Submissions that tests send.

export const bellQasm3 = `OPENQASM 3.0;
include "stdgates.inc";
qubit[2] q;
bit[2] c;
h q[0];
cx q[0], q[1];
c = measure q;
`

/** X on qubit 0 of three: the one outcome is 100 when qubit 0 is leftmost, 001 when it is not. */
export const asymmetric = {
  qasm2: `OPENQASM 2.0;
include "qelib1.inc";
qreg q[3];
creg c[3];
x q[0];
measure q -> c;
`,
  qasm3: `OPENQASM 3.0;
include "stdgates.inc";
qubit[3] q;
bit[3] c;
x q[0];
c = measure q;
`,
  qiskit: `from qiskit import QuantumCircuit
circuit = QuantumCircuit(3, 3)
circuit.x(0)
circuit.measure(range(3), range(3))
`
}

/** A Qiskit program that takes this long before it has a circuit. */
export const slowQiskit = (seconds: number): string => `import time
from qiskit import QuantumCircuit
time.sleep(${seconds})
circuit = QuantumCircuit(1)
circuit.x(0)
`

export const submission = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  inline_code: bellQasm3,
  framework: 'openqasm',
  backend: 'local',
  params: { shots: 100 },
  ...changes
})
