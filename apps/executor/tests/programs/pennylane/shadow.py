# expect-error: ClassicalShadow
# expect-line: 7
import pennylane as qml
@qml.qnode(qml.device("default.qubit", wires=2, shots=10))
def circuit():
    qml.Hadamard(0)
    return qml.classical_shadow(wires=[0, 1])
