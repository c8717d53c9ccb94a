# expect-error: the circuit has no qubits
# expect-line: 5
from marqov import Circuit

circuit = Circuit()
