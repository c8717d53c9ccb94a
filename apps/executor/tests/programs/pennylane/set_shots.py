# expect: counts {"0": 0.5, "1": 0.5}
import pennylane as qml

dev = qml.device("default.qubit", wires=1)


@qml.set_shots(100)
@qml.qnode(dev)
def circuit():
    qml.Hadamard(0)
    return qml.counts()


print(circuit())
