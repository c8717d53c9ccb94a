# expect: counts {"11": 1}
from qiskit import QuantumCircuit


def oracle(n):
    """Marks |11>."""
    qc = QuantumCircuit(n, name="Oracle")
    qc.cz(0, 1)
    return qc


def diffuser(n):
    qc = QuantumCircuit(n, name="Diffuser")
    qc.h(range(n))
    qc.x(range(n))
    qc.cz(0, 1)
    qc.x(range(n))
    qc.h(range(n))
    return qc


n = 2
grover = QuantumCircuit(n)
grover.h(range(n))
grover.append(oracle(n).to_gate(), range(n))
grover.append(diffuser(n).to_gate(), range(n))
grover.measure_all()
circuit = grover
