# expect: counts {"001": 1}
# A classical register of three bits of which two are measured.
from qiskit import QuantumCircuit

qc = QuantumCircuit(3, 3)
qc.x(2)
qc.measure(0, 0)
qc.measure(2, 2)
