# expect-error: CircuitError
# expect-line: 5
from qiskit import QuantumCircuit

qc = QuantumCircuit(2, 1); qc.measure([0, 1], [0, 1])
