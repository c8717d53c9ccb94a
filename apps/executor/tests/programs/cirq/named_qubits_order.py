# expect: counts {"10": 1}
# Named qubits stand in Cirq's own order, alice before bob.
import cirq

bob = cirq.NamedQubit("bob")
alice = cirq.NamedQubit("alice")
circuit = cirq.Circuit(cirq.X(alice), cirq.I(bob))
