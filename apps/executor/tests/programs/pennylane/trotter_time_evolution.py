# expect: counts {"0": cos(0.5)**2, "1": sin(0.5)**2}
import pennylane as qml

H = qml.dot([0.6, 0.4], [qml.X(0), qml.X(0)])


@qml.qnode(qml.device("default.qubit", wires=1))
def circuit():
    qml.TrotterProduct(H, time=0.5, n=4, order=2)
    return qml.probs(wires=0)
