# expect: counts {"10": 1}
import pennylane as qml

dev = qml.device("default.qubit", wires=2, shots=5)


@qml.qnode(dev)
def circuit():
    qml.PauliX(wires=0)
    return qml.sample()


print(circuit())
