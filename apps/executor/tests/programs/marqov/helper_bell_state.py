# expect: counts {"00": 0.5, "11": 0.5}
from marqov import bell_state

circuit = bell_state()
print(circuit.num_qubits)
