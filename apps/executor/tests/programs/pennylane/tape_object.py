# expect: counts {"11": 1}
import pennylane as qml

with qml.tape.QuantumTape() as tape:
    qml.PauliX(0)
    qml.CNOT(wires=[0, 1])
    qml.counts(wires=[0, 1])
print(tape.draw())
