# expect: counts {"00": 0.5, "11": 0.5}
# expect: registers ["q(0),q(1)"]
import cirq

q0, q1 = cirq.LineQubit.range(2)
bell = cirq.Circuit([cirq.H(q0), cirq.CNOT(q0, q1), cirq.measure(q0, q1)])
