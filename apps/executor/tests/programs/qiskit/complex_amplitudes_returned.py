# expect-error: main() returned['state'][0]: complex cannot be part of a result
# expect-error: real and the imaginary part
from qiskit import QuantumCircuit
from qiskit.quantum_info import Statevector


def main():
    qc = QuantumCircuit(1)
    qc.h(0)
    return {"state": Statevector(qc).data}
