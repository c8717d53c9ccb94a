# expect: counts {"1": 1}
import cirq

q = cirq.LineQubit(0)
subcircuit = cirq.FrozenCircuit(cirq.X(q) ** 0.5)
circuit = cirq.Circuit(cirq.CircuitOperation(subcircuit, repetitions=2), cirq.measure(q, key="m"))
