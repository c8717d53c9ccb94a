# expect: expectation [cos(0.3)]
# expect-warning: circuit(tensor(0.3, requires_grad=True))
# expect-stdout: -0.2955
import pennylane as qml
from pennylane import numpy as np


@qml.qnode(qml.device("default.qubit", wires=1), diff_method="parameter-shift")
def circuit(x):
    qml.RX(x, 0)
    return qml.expval(qml.Z(0))


print(qml.grad(circuit)(np.array(0.3, requires_grad=True)))
