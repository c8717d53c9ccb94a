# expect: counts {"10": 1}
from qiskit import QuantumCircuit

qc = QuantumCircuit(1, 2)
qc.x(0)
qc.measure(0, 0)
qc.reset(0)
qc.measure(0, 1)
