# expect-error: DepolarizingChannel
# expect-error: qubit 1
# expect-error: noise_model
# expect-line: 12
import pennylane as qml

dev = qml.device("default.mixed", wires=2)


@qml.qnode(dev)
def circuit(p=0.1):
    qml.Hadamard(wires=0); qml.DepolarizingChannel(p, wires=1)
    return qml.probs(wires=[0, 1])
