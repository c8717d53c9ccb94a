# expect-error: QNode 'circuit' needs values for theta, phi
# expect-error: circuit(theta, phi)
# expect-line: 8
import pennylane as qml

dev = qml.device("default.qubit", wires=2)
@qml.qnode(dev)
def circuit(theta, phi):
    qml.RX(theta, wires=0)
    qml.RY(phi, wires=1)
    return qml.probs(wires=[0, 1])
