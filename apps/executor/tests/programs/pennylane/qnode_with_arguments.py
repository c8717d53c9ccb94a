# expect: expectation [cos(0.54)*cos(0.12)]
# expect-warning: circuit(0.54, 0.12)
# expect-stdout: 0.85
import pennylane as qml
from pennylane import numpy as np

dev = qml.device("default.qubit", wires=1)


@qml.qnode(dev)
def circuit(phi1, phi2):
    qml.RX(phi1, wires=0)
    qml.RY(phi2, wires=0)
    return qml.expval(qml.PauliZ(0))


print(circuit(0.54, 0.12))
