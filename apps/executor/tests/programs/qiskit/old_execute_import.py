# expect-error: AerSimulator
# expect-line: 4
# Code from a 2021 tutorial.
from qiskit import Aer, QuantumCircuit, execute

qc = QuantumCircuit(2, 2)
qc.h(0)
qc.cx(0, 1)
qc.measure([0, 1], [0, 1])
result = execute(qc, Aer.get_backend("qasm_simulator"), shots=1024).result()
print(result.get_counts())
