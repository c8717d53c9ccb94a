# expect-error: DensityMatrix
# expect-line: 9
import pennylane as qml


@qml.qnode(qml.device("default.qubit", wires=2))
def circuit():
    qml.Hadamard(0)
    return qml.density_matrix([0])
