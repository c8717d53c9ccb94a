# expect: counts {"110": 1}
import warnings

from qiskit import QuantumCircuit
from qiskit.circuit.library import QFT

qc = QuantumCircuit(3)
qc.x([0, 1])
qc.append(QFT(3), [0, 1, 2])
qc.append(QFT(3, inverse=True), [0, 1, 2])
qc.measure_all()
