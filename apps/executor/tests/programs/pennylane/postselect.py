# expect-error: postselect
# expect-error: qubit 0
# expect-line: 11
import pennylane as qml


@qml.qnode(qml.device("default.qubit", wires=2))
def circuit():
    qml.Hadamard(0)
    qml.CNOT([0, 1])
    qml.measure(0, postselect=1)
    return qml.probs(wires=1)
