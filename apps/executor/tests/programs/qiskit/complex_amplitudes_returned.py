# expect: value {"state": [[1, 0], [0, 0]]}
# expect-warning: shots, engine, engine_version and optimization_level are null
from qiskit import QuantumCircuit
from qiskit.quantum_info import Statevector


def main():
    qc = QuantumCircuit(1)
    qc.x(0)
    qc.x(0)
    return {"state": Statevector(qc).data}
