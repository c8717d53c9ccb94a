# expect-error: uses wire 2, which its device lacks
# expect-line: 9
import pennylane as qml

dev = qml.device("default.qubit", wires=2)


@qml.qnode(dev)
def circuit():
    qml.CNOT(wires=[0, 2])
    return qml.probs(wires=[0, 1])
