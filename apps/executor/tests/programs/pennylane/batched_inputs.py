# expect-error: batch of 3 values
# expect-line: 7
import numpy as np
import pennylane as qml

@qml.qnode(qml.device("default.qubit", wires=1))
def circuit(x):
    qml.RX(x, wires=0)
    return qml.expval(qml.Z(0))


print(circuit(np.array([0.1, 0.2, 0.3])))
