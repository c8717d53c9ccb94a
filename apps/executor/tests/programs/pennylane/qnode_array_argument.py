# expect: expectation [cos(0.54)*cos(0.12)]
# expect-warning: tensor([0.54, 0.12], requires_grad=True)
import pennylane as qml
from pennylane import numpy as np

dev1 = qml.device("lightning.qubit", wires=1)


@qml.qnode(dev1)
def circuit(params):
    qml.RX(params[0], wires=0)
    qml.RY(params[1], wires=0)
    return qml.expval(qml.PauliZ(0))


params = np.array([0.54, 0.12], requires_grad=True)
print(circuit(params))
params += 1.0
