# expect: expectation [1.0, 1.0, -1.0]
# expect: width 2
import pennylane as qml


@qml.qnode(qml.device("default.qubit", wires=2))
def bell():
    qml.Hadamard(wires=0)
    qml.CNOT(wires=[0, 1])
    return qml.expval(qml.X(0) @ qml.X(1)), qml.expval(qml.Z(0) @ qml.Z(1)), qml.expval(qml.Y(0) @ qml.Y(1))
