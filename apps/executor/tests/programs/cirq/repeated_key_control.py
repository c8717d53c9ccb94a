# expect: counts {"101": 1}
# expect: registers ["m", "m#2", "out"]
# expect-warning: measured 2 times
# The control reads the latest value of the key, which is 0, then the first one, which is 1.
import cirq

q0, q1 = cirq.LineQubit.range(2)
circuit = cirq.Circuit(
    cirq.X(q0),
    cirq.measure(q0, key="m"),
    cirq.X(q0),
    cirq.measure(q0, key="m"),
    cirq.X(q1).with_classical_controls("m"),
    cirq.X(q1).with_classical_controls(cirq.KeyCondition(cirq.MeasurementKey("m"), 0)),
    cirq.measure(q1, key="out"),
)
