# expect: counts {"101": 1}
import pennylane as qml


@qml.qnode(qml.device("default.qubit", wires=3))
def circuit():
    qml.BasisState([1, 0, 1], wires=[0, 1, 2])
    qml.QFT(wires=[0, 1, 2])
    qml.adjoint(qml.QFT)(wires=[0, 1, 2])
    return qml.probs()
