# expect: counts {"1001": 1}
import cirq

qubits = cirq.GridQubit.square(2)
circuit = cirq.Circuit()
circuit.append(cirq.X(q) for q in qubits if q.row == q.col)
circuit.append(cirq.I(q) for q in qubits)
circuit.append(cirq.measure(*qubits, key="grid"))
