# expect: counts {"1111": 1}
import pennylane as qml


@qml.qnode(qml.device("default.qubit", wires=4))
def circuit():
    qml.X(0)
    for i in range(3):
        qml.ctrl(qml.RX, control=i)(3.141592653589793, wires=i + 1)
    return qml.probs()
