# expect: expectation [cos(0.8)]
# expect-warning: deferred to its end
# expect-warning: teleport(0.8)
import numpy as np
import pennylane as qml

dev = qml.device("default.qubit", wires=["S", "A", "B"])


def state_preparation(theta):
    qml.RY(theta, wires="S")


def entangle_qubits():
    qml.Hadamard(wires="A")
    qml.CNOT(wires=["A", "B"])


@qml.qnode(dev)
def teleport(theta):
    state_preparation(theta)
    entangle_qubits()
    qml.CNOT(wires=["S", "A"])
    qml.Hadamard(wires="S")
    m0, m1 = qml.measure("S"), qml.measure("A")
    qml.cond(m1, qml.PauliX)("B")
    qml.cond(m0, qml.PauliZ)("B")
    return qml.expval(qml.Z("B"))


print(np.round(teleport(0.8), 4))
