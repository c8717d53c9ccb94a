# expect: counts {"10": 1}
import cirq

a, b = cirq.LineQubit.range(2)
circuit = cirq.Circuit(cirq.X(a), cirq.X(b), cirq.measure(a, b, key="m", invert_mask=(False, True)))
