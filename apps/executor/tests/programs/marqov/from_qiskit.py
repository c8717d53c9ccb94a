# expect: counts {"10": 1}
from marqov import Circuit
from qiskit import QuantumCircuit

qc_qiskit = QuantumCircuit(2)
qc_qiskit.x(0)
qc_qiskit.rz(0.1, 1)
circuit = Circuit.from_qiskit(qc_qiskit)
