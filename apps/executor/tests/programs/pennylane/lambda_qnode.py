# expect: counts {"1": 1}
import pennylane as qml

dev = qml.device("default.qubit", wires=1)


def ansatz():
    qml.X(0)
    return qml.counts()


qnode = qml.QNode(ansatz, dev)
