# expect: counts {"0": cos(0.15)**2, "1": sin(0.15)**2}
# params: {"theta": 0.3}
from qiskit import QuantumCircuit


def main(theta: float = 0.1, reps: int = 1) -> QuantumCircuit:
    qc = QuantumCircuit(1)
    for _ in range(reps):
        qc.ry(theta, 0)
    return qc
