# expect: counts {"011": 1}
# expect: registers ["q(1)", "q(0)", "q(2)"]
# Keys stand in the order of measurement: q(1) is measured in the first moment, the others in the second.
import cirq

qubits = cirq.LineQubit.range(3)
circuit = cirq.Circuit(cirq.X(qubits[0]), cirq.X(qubits[2]), cirq.measure_each(*qubits))
