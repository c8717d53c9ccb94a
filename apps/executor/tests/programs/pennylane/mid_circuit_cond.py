# expect: counts {"00": 0.5, "11": 0.5}
# expect-warning: deferred to its end
import pennylane as qml


@qml.qnode(qml.device("default.qubit", wires=2))
def circuit():
    qml.Hadamard(0)
    m = qml.measure(0)
    qml.cond(m, qml.PauliX)(wires=1)
    return qml.counts(wires=[0, 1])
