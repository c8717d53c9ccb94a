# expect-error: the circuit has no qubits
# expect-line: 5
import cirq

circuit = cirq.Circuit()
