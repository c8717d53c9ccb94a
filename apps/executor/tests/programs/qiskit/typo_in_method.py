# expect-error: AttributeError
# expect-error: 'hadamard'
# expect-error: line 11: make(3)
# expect-error: line 8, in make: qc = QuantumCircuit(n); qc.hadamard(0)
# expect-line: 8
from qiskit import QuantumCircuit
def make(n):
    qc = QuantumCircuit(n); qc.hadamard(0)
    return qc

make(3)
