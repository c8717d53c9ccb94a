# expect-error: input()
# expect-error: params
# expect-line: 6
from qiskit import QuantumCircuit

n = int(input("How many qubits? "))
qc = QuantumCircuit(n)
