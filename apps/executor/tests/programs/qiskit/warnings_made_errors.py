# expect: counts {"00": 0.5, "10": 0.5}
import warnings

import numpy as np
from qiskit import QuantumCircuit

warnings.filterwarnings("error")
np.seterr(all="raise")
qc = QuantumCircuit(2)
qc.h(0)
qc.rx(1e-300, 1)
qc.measure_all()
