# expect: counts {"1": 1}
import cirq

q = cirq.q(3)
original = cirq.Circuit(cirq.Y(q), cirq.measure(q, key="m"))
with open("circuit.json", "w") as f:
    f.write(cirq.to_json(original))
del original
circuit = cirq.read_json("circuit.json")
