# expect: counts {"110": 1}
# expect-warning: QNode 'circuit' was run with the arguments of its last call
import pennylane as qml


@qml.qnode(qml.device("default.qubit"))
def circuit(x):
    qml.BasisEmbedding(x, wires=[0, 1, 2])
    qml.Multiplier(3, [0, 1, 2], 7, [3, 4, 5, 6, 7])
    return qml.probs(wires=[0, 1, 2])


circuit(2)
