# expect: counts {"1": 1}
# expect: shots 25
# expect-stdout: {'1': 25}
import cirq

q = cirq.LineQubit(0)
for exponent in (0.0, 0.5, 1.0):
    trial = cirq.Circuit(cirq.X(q) ** exponent, cirq.measure(q, key="m"))
    counts = device.run(trial, shots=25)  # noqa: F821
    print(counts)
