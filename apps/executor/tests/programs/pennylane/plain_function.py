# expect-error: 'my_circuit' is a plain function
# expect-error: @qml.qnode
import pennylane as qml


def my_circuit():
    qml.Hadamard(wires=0)
    qml.CNOT(wires=[0, 1])
    return qml.probs(wires=[0, 1])
