# expect: expectation [cos(0.6)]
import numpy as np
import pennylane as qml

A = np.array([[0, 1], [1, 0]])


@qml.qnode(qml.device("default.qubit", wires=1))
def circuit():
    qml.Hadamard(0)
    qml.RZ(0.6, wires=0)
    return qml.expval(qml.Hermitian(A, wires=0))
