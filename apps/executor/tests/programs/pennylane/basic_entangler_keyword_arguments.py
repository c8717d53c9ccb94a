# expect: expectation [0.0]
# expect-warning: circuit(weights=array([[0., 0.]]), x=1.57
import numpy as np
import pennylane as qml


@qml.qnode(qml.device("default.qubit", wires=2))
def circuit(x, weights, flip=False):
    qml.RX(x, wires=0)
    if flip:
        qml.X(0)
    qml.BasicEntanglerLayers(weights, wires=[0, 1])
    return qml.expval(qml.Z(0))


circuit(weights=np.zeros((1, 2)), x=np.pi / 2)
