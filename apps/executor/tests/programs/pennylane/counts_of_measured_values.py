# expect: counts {"000": cos(0.4)**2, "110": sin(0.4)**2}
# expect: registers ["counts", "counts1"]
# expect-warning: deferred to its end
import pennylane as qml


@qml.qnode(qml.device("default.qubit", wires=3))
def circuit():
    qml.RY(0.8, 0)
    qml.CNOT([0, 1])
    m0 = qml.measure(0)
    m1 = qml.measure(1)
    qml.cond((m0 == 1) & (m1 == 0), qml.X)(2)
    return qml.counts(op=[m0, m1]), qml.counts(wires=[2])
