# expect: counts {"010": 1}
# expect-warning: QNode 'circuit' was run with the arguments of its last call
import pennylane as qml


@qml.qnode(qml.device("default.qubit"))
def circuit(x):
    qml.BasisEmbedding(x, wires=[0, 1, 2])
    qml.BasisEmbedding(1, wires=[3, 4, 5])
    qml.ModExp([0, 1, 2], [3, 4, 5], 3, 7, [6, 7, 8, 9, 10])
    return qml.probs(wires=[3, 4, 5])


circuit(2)
