# expect: counts {"0": 0.5, "1": 0.5}
# expect-warning: snapshots are not taken
import pennylane as qml


@qml.qnode(qml.device("default.qubit", wires=1))
def circuit():
    qml.Snapshot("start")
    qml.Hadamard(0)
    qml.Snapshot("end")
    return qml.probs(wires=0)


print(qml.snapshots(circuit)())
print(qml.specs(circuit)()["resources"])
