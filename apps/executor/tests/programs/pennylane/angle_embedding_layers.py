# expect: width 3
# expect-warning: arguments of its last call
import pennylane as qml
from pennylane import numpy as np

n_qubits, n_layers = 3, 2
dev = qml.device("default.qubit", wires=n_qubits)


@qml.qnode(dev)
def quantum_net(inputs, weights):
    qml.AngleEmbedding(inputs, wires=range(n_qubits))
    qml.StronglyEntanglingLayers(weights, wires=range(n_qubits))
    return [qml.expval(qml.PauliZ(i)) for i in range(n_qubits)]


shape = qml.StronglyEntanglingLayers.shape(n_layers=n_layers, n_wires=n_qubits)
np.random.seed(42)
weights = np.random.random(size=shape)
print(quantum_net(np.array([0.1, 0.2, 0.3]), weights))
