# expect: counts {"110": 1}
# expect-warning: QNode 'circuit' was run with the arguments of its last call
import pennylane as qml


@qml.qnode(qml.device("default.qubit"))
def circuit(x, y):
    qml.BasisEmbedding(x, wires=[0, 1, 2])
    qml.BasisEmbedding(y, wires=[3, 4, 5])
    qml.OutMultiplier([0, 1, 2], [3, 4, 5], [6, 7, 8], 7, [9, 10])
    return qml.probs(wires=[6, 7, 8])


circuit(2, 3)
