# expect: expectation [-3.0]
import pennylane as qml

H = sum(op(0) @ op(1) for op in (qml.X, qml.Y, qml.Z))


@qml.qnode(qml.device("default.qubit", wires=2))
def singlet():
    qml.X(0)
    qml.X(1)
    qml.Hadamard(0)
    qml.CNOT([0, 1])
    return qml.expval(H)
