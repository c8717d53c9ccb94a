# expect: counts {"001": 1}
# T has the phase 1/8.
import cirq

n = 3
register = cirq.LineQubit.range(n)
eigenstate = cirq.NamedQubit("u")
circuit = cirq.Circuit(cirq.X(eigenstate), cirq.H.on_each(*register))
for i, q in enumerate(register):
    circuit.append((cirq.T ** (2 ** (n - 1 - i))).on(eigenstate).controlled_by(q))
circuit.append(cirq.qft(*register, inverse=True))
circuit.append(cirq.measure(*register, key="phase"))
