# expect: counts {"0": cos(0.1)**2, "1": sin(0.1)**2}
# expect-warning: qnode(0.2)
import pennylane as qml


def make(n):
    @qml.qnode(qml.device("default.qubit", wires=n))
    def qnode(x):
        qml.RX(x, wires=0)
        return qml.probs(wires=0)

    return qnode


circuit = make(1)
values = [float(circuit(x)[0]) for x in (0.0, 0.1, 0.2)]
print(values)
