# expect: value {"state": [[1, 0], [0, 0]]}
from qiskit import QuantumCircuit
from qiskit.quantum_info import Statevector


def main():
    qc = QuantumCircuit(1)
    qc.x(0)
    qc.x(0)
    return {"state": Statevector(qc).data}
