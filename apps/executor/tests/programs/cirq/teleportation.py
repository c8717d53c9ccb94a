# expect: counts {"000": cos(0.4)**2/4, "010": cos(0.4)**2/4, "100": cos(0.4)**2/4, "110": cos(0.4)**2/4, "001": sin(0.4)**2/4, "011": sin(0.4)**2/4, "101": sin(0.4)**2/4, "111": sin(0.4)**2/4}
# expect: registers ["M2", "M1", "out"]
import cirq


def make_quantum_teleportation_circuit(gate):
    """Returns a circuit for quantum teleportation. This circuit 'teleports' a random qubit state prepared by the input gate."""
    circuit = cirq.Circuit()
    msg = cirq.NamedQubit("Message")
    alice = cirq.NamedQubit("Alice")
    bob = cirq.NamedQubit("Bob")
    circuit.append(gate(msg))
    circuit.append([cirq.H(alice), cirq.CNOT(alice, bob)])
    circuit.append([cirq.CNOT(msg, alice), cirq.H(msg)])
    circuit.append(cirq.measure(msg, key="M1"))
    circuit.append(cirq.measure(alice, key="M2"))
    circuit.append(cirq.X(bob).with_classical_controls("M2"))
    circuit.append(cirq.Z(bob).with_classical_controls("M1"))
    circuit.append(cirq.measure(bob, key="out"))
    return msg, circuit


message, teleportation_circuit = make_quantum_teleportation_circuit(cirq.ry(0.8))
print(teleportation_circuit)
