# expect: width 5
import cirq

circuit = cirq.testing.random_circuit(qubits=5, n_moments=10, op_density=0.7, random_state=42)
circuit.append(cirq.measure(*sorted(circuit.all_qubits()), key="m"))
