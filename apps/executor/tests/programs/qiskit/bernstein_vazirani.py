# expect: counts {"1011": 1}
from qiskit import QuantumCircuit

s = "1011"  # the secret string, first character on qubit 0
n = len(s)
circuit = QuantumCircuit(n + 1, n)
circuit.h(n)
circuit.z(n)
for i in range(n):
    circuit.h(i)
for i, bit in enumerate(s):
    if bit == "1":
        circuit.cx(i, n)
for i in range(n):
    circuit.h(i)
    circuit.measure(i, i)
