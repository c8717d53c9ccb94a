# expect-error: AttributeError
# expect-error: Hadamard
# expect-line: 6
import cirq

circuit = cirq.Circuit(cirq.Hadamard(cirq.LineQubit(0)))
