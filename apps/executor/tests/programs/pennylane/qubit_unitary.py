# expect: counts {"01": 0.5, "11": 0.5}
import numpy as np
import pennylane as qml

U = np.array([[1, 1], [1, -1]]) / np.sqrt(2)


@qml.qnode(qml.device("default.qubit", wires=2))
def circuit():
    qml.QubitUnitary(U, wires=0)
    qml.PauliX(1)
    return qml.counts()
