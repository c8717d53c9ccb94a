# expect: expectation [cos(0.4), cos(0.7)]
# expect: registers ["probs", "observables"]
import pennylane as qml


@qml.qnode(qml.device("default.qubit", wires=3))
def circuit():
    qml.RX(0.4, wires=0)
    qml.RY(0.7, wires=1)
    qml.CNOT([0, 2])
    return qml.probs(wires=[2]), qml.expval(qml.Z(0)), qml.expval(qml.Z(1))
