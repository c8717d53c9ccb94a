# expect-error: the terms of
# expect-error: qubit 0 in different bases
# expect-error: main()
# expect-line: 11
import pennylane as qml

H = qml.Hamiltonian([1.0, 0.5, 0.5], [qml.Z(0) @ qml.Z(1), qml.X(0), qml.X(1)])


@qml.qnode(qml.device("default.qubit", wires=2))
def circuit():
    qml.Hadamard(0)
    qml.CNOT([0, 1])
    return qml.expval(H)
