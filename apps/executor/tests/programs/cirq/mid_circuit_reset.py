# expect: counts {"10": 1}
# expect: registers ["before", "after"]
import cirq

q = cirq.LineQubit(0)
circuit = cirq.Circuit(cirq.X(q), cirq.measure(q, key="before"), cirq.reset(q), cirq.measure(q, key="after"))
