# expect: expectation [cos(0.2)]
import pennylane as qml

ops = [qml.RX(0.2, 0), qml.CNOT((0, 1))]
script = qml.tape.QuantumScript(ops, [qml.expval(qml.Z(0))], shots=100)
