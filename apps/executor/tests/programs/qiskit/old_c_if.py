# expect-error: c_if
# expect-error: if_test
# expect-line: 9
from qiskit import QuantumCircuit

qc = QuantumCircuit(2, 1)
qc.h(0)
qc.measure(0, 0)
qc.x(1).c_if(0, 1)
