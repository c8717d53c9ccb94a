# expect: counts {"11": 1}
from qiskit import QuantumCircuit


def main(n):
    qc = QuantumCircuit(n)
    qc.x(range(n))
    return qc


result = main(n=2)
