# expect-error: X(0) and Z(0) cannot be measured together
# expect-error: run them as two jobs
# expect-line: 6
import pennylane as qml
@qml.qnode(qml.device("default.qubit", wires=1))
def circuit():
    qml.RX(0.4, wires=0)
    return qml.expval(qml.X(0)), qml.expval(qml.Z(0))
