# expect: counts {"00": cos(0.05)**2*cos(0.1)**2, "01": cos(0.05)**2*sin(0.1)**2, "10": sin(0.05)**2*sin(0.1)**2, "11": sin(0.05)**2*cos(0.1)**2}
import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit import ParameterVector

x = ParameterVector("x", 2)
feature_map = QuantumCircuit(2)
for i in range(2):
    feature_map.ry(x[i], i)
feature_map.cx(0, 1)
data = np.array([0.1, 0.2])
qc = feature_map.assign_parameters(data)
qc.measure_all()
