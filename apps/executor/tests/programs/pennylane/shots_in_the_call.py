# expect: counts {"0": cos(0.25)**2, "1": sin(0.25)**2}
# expect-warning: circuit(0.5)
import pennylane as qml


@qml.qnode(qml.device("default.qubit", wires=1))
def circuit(x):
    qml.RY(x, 0)
    return qml.sample(wires=0)


print(circuit(0.5, shots=7))
