# expect-error: notebook
# expect-error: %matplotlib inline
# expect-line: 4
%matplotlib inline
from qiskit import QuantumCircuit

qc = QuantumCircuit(1)
