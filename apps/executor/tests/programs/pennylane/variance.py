# expect: expectation [sin(0.4)**2]
import pennylane as qml


@qml.qnode(qml.device("default.qubit", wires=1))
def circuit(x=0.4):
    qml.RX(x, wires=0)
    return qml.var(qml.PauliZ(0))
