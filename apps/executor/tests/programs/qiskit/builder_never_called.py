# expect-error: No circuit found
# expect-error: build_circuit()
from qiskit import QuantumCircuit


def build_circuit():
    qc = QuantumCircuit(2)
    qc.h(0)
    qc.cx(0, 1)
    return qc
