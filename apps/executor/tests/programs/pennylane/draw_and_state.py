# expect: counts {"00": 0.5, "11": 0.5}
# expect-warning: extract_state_vector
# expect-stdout: 0: ──H─╭●─┤  State
import pennylane as qml

dev = qml.device("default.qubit", wires=2)


@qml.qnode(dev)
def bell():
    qml.Hadamard(0)
    qml.CNOT([0, 1])
    return qml.state()


print(qml.draw(bell)())
print(bell())
