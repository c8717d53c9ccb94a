# expect: counts {"110": 1}
from qiskit import QuantumCircuit, transpile
from qiskit.circuit.library import QFTGate

qc = QuantumCircuit(3)
qc.x([0, 1])
qc.append(QFTGate(3), range(3))
qc.append(QFTGate(3).inverse(), range(3))
qc = transpile(qc, basis_gates=["rz", "sx", "x", "cx"], optimization_level=1)
