# expect: counts {"00": 0.1, "01": 0.2, "10": 0.3, "11": 0.4}
import numpy as np
from qiskit import QuantumCircuit

# Little endian: amplitude 2 (binary 10) has qubit 1 set, which is the second character of an outcome.
amplitudes = np.sqrt([0.1, 0.3, 0.2, 0.4])
qc = QuantumCircuit(2)
qc.initialize(amplitudes, [0, 1])
qc.measure_all()
