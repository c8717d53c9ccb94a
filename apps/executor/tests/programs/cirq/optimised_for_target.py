# expect: counts {"00": 0.5, "11": 0.5}
# expect-stdout: gates
import cirq

a, b = cirq.LineQubit.range(2)
original = cirq.Circuit(cirq.H(a), cirq.CNOT(a, b), cirq.measure(a, b, key="m"))
circuit = cirq.optimize_for_target_gateset(original, gateset=cirq.CZTargetGateset())
print(circuit, "gates")
