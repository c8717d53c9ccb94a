# expect: counts {"00": 0.5, "11": 0.5}
import pennylane as qml

dev = qml.device("default.qubit", wires=2, shots=1000)


@qml.qnode(dev)
def circuit():
    qml.Hadamard(wires=0)
    qml.CNOT(wires=[0, 1])
    return qml.counts()


print(circuit())
