# expect: most "111"
import pennylane as qml

wires = [0, 1, 2]


@qml.qnode(qml.device("lightning.qubit", wires=3))
def grover(steps=2):
    for w in wires:
        qml.Hadamard(w)
    for _ in range(steps):
        qml.ctrl(qml.Z, control=[0, 1])(2)
        qml.GroverOperator(wires=wires)
    return qml.counts(wires=wires)
