# expect: counts {"001": 1}
import numpy as np
import pennylane as qml

target, estimation = [3], [0, 1, 2]


@qml.qnode(qml.device("default.qubit", wires=4))
def circuit():
    qml.PauliX(3)
    qml.QuantumPhaseEstimation(qml.PhaseShift(2 * np.pi / 8, wires=3), estimation_wires=estimation)
    return qml.probs(estimation)
