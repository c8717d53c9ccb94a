# expect: counts {"0001": 1}
import cirq

qubits = cirq.LineQubit.range(4)
circuit = cirq.Circuit()
circuit.append(cirq.X(qubits[3]).controlled_by(*qubits[:3], control_values=[0, 0, 0]))
circuit.append(cirq.X(qubits[0]).controlled_by(qubits[1], qubits[2]))
