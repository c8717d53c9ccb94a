# expect: counts {"101": 1}
# expect: registers ["m", "m#2", "m#3"]
# expect-warning: the key 'm' is measured 3 times
import cirq

q = cirq.LineQubit(0)
circuit = cirq.Circuit(cirq.X(q))
for _ in range(3):
    circuit.append(cirq.measure(q, key="m"))
    circuit.append(cirq.X(q))
