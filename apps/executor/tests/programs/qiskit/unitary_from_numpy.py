# expect: counts {"10": 1}
import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit.library import UnitaryGate

swap = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
qc = QuantumCircuit(2)
qc.x(1)
qc.append(UnitaryGate(swap, label="my swap"), [0, 1])
qc.measure_all()
