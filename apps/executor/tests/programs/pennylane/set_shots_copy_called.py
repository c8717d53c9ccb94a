# expect: counts {"0": cos(0.25)**2, "1": sin(0.25)**2}
# expect-warning: circuit(0.5)
import pennylane as qml


@qml.qnode(qml.device("default.qubit", wires=1))
def circuit(x):
    qml.RY(x, 0)
    return qml.counts(wires=0)


print(qml.set_shots(circuit, shots=30)(0.5))
try:
    circuit("not an angle")
except Exception as error:
    print("as expected:", type(error).__name__)
