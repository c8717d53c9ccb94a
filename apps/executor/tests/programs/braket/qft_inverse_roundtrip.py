# expect: counts {"101": 1}
import math

from braket.circuits import Circuit


def qft(qubits):
    circ = Circuit()
    n = len(qubits)
    for k in range(n):
        circ.h(qubits[k])
        for j in range(1, n - k):
            circ.cphaseshift(qubits[k + j], qubits[k], 2 * math.pi / (2 ** (j + 1)))
    for i in range(n // 2):
        circ.swap(qubits[i], qubits[-i - 1])
    return circ


q = range(3)
circuit = Circuit().x(0).i(1).x(2).add_circuit(qft(q)).add_circuit(qft(q).adjoint())
