# expect: counts {"00": 0.5, "11": 0.5}
# expect-stdout: Your first circuit
# expect-stdout: ┤ H ├
from qiskit import QuantumCircuit

# Create a new circuit with two qubits
qc = QuantumCircuit(2)

# Add a Hadamard gate to qubit 0
qc.h(0)

# Perform a controlled-X gate on qubit 1, controlled by qubit 0
qc.cx(0, 1)
qc.measure_all()

print("Your first circuit:")
print(qc.draw())
