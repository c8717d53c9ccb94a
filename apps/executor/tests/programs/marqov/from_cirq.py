# expect: counts {"00": 0.5, "11": 0.5}
import cirq
from marqov import Circuit

a, b = cirq.LineQubit.range(2)
circuit = Circuit.from_cirq(cirq.Circuit(cirq.H(a), cirq.CNOT(a, b)))
