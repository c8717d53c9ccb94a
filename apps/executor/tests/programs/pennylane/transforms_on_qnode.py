# expect: counts {"01": 1}
import pennylane as qml


@qml.transforms.cancel_inverses
@qml.transforms.merge_rotations
@qml.qnode(qml.device("default.qubit", wires=2))
def circuit():
    qml.Hadamard(0)
    qml.Hadamard(0)
    qml.RX(1.0, 1)
    qml.RX(2.141592653589793, 1)
    return qml.counts()
