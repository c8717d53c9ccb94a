# expect: counts {"00": cos(0.35)**2, "11": sin(0.35)**2}
# expect-warning: deferred to its end
import pennylane as qml


@qml.qnode(qml.device("default.qubit", wires=3))
def circuit():
    qml.RY(0.7, 0)
    m = qml.measure(0)
    qml.cond(m == 1, lambda: qml.Identity(wires=[0]))()
    qml.ctrl(qml.Identity(0), control=1)
    qml.ctrl(qml.Identity([0, 1]), control=2)
    return qml.counts(op=[m]), qml.counts(wires=[0])
