# expect: counts {"00": 0.5, "10": 0.5}
import pennylane as qml

dev = qml.device("default.qubit", wires=["a", "b", "c"])


@qml.qnode(dev)
def circuit():
    qml.Hadamard(wires="c")
    qml.CNOT(wires=["c", "b"])
    return qml.probs(wires=["b", "a"])
