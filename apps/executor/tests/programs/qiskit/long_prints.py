# expect: counts {"1": 1}
# expect-warning: output was cut after 256 KiB
# expect-stdout: 0 0
from qiskit import QuantumCircuit

qc = QuantumCircuit(1)
qc.x(0)
for i in range(30000):
    print(i, i * i)
