# expect: most "101"
import math

from qiskit import QuantumCircuit
from qiskit.circuit.library import MCMTGate, ZGate, grover_operator


def grover_oracle(marked: str) -> QuantumCircuit:
    n = len(marked)
    qc = QuantumCircuit(n)
    zeros = [i for i in range(n) if marked[i] == "0"]
    qc.x(zeros)
    qc.compose(MCMTGate(ZGate(), n - 1, 1), inplace=True)
    qc.x(zeros)
    return qc


oracle = grover_oracle("101")
op = grover_operator(oracle)
optimal = math.floor(math.pi / (4 * math.asin(math.sqrt(1 / 2**op.num_qubits))))
qc = QuantumCircuit(op.num_qubits)
qc.h(range(op.num_qubits))
qc.compose(op.power(optimal), inplace=True)
qc.measure_all()
