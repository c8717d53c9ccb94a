# expect-error: No circuit found
# expect-error: 'circuits' is a list of circuits
from qiskit import QuantumCircuit

circuits = []
for k in range(3):
    c = QuantumCircuit(1, name=f"rb_{k}")
    for _ in range(k):
        c.x(0)
    circuits.append(c)
del c
