# expect: counts {"00": 1/30, "01": 4/30, "10": 9/30, "11": 16/30}
import numpy as np
import pennylane as qml


@qml.qnode(qml.device("default.qubit", wires=2))
def circuit():
    qml.AmplitudeEmbedding(features=np.array([1, 2, 3, 4]), wires=range(2), normalize=True)
    return qml.probs(wires=range(2))
