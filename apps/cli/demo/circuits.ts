// The three programs of the demo.

/** Enough for a seal that tells a total variation distance of 0.05. */
export const shots = 4000

/** Two qubits that are always measured as equal. */
export const bellQasm = `OPENQASM 3.0;
include "stdgates.inc";
qubit[2] q;
bit[2] c;
h q[0];
cx q[0], q[1];
c = measure q;
`

/** Five qubits that are always measured as equal. */
export const ghzQiskit = `from qiskit import QuantumCircuit

circuit = QuantumCircuit(5)
circuit.h(0)
for qubit in range(4):
    circuit.cx(qubit, qubit + 1)
circuit.measure_all()
`

/** The same with three qubits, after a pause that leaves time to kill the executor during the run. */
export const slowGhzQiskit = `import time
from qiskit import QuantumCircuit

time.sleep(2)
circuit = QuantumCircuit(3)
circuit.h(0)
circuit.cx(0, 1)
circuit.cx(1, 2)
circuit.measure_all()
`
