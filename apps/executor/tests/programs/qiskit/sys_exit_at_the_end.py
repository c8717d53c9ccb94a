# expect: counts {"1": 1}
# expect-stdout: done
import sys

from qiskit import QuantumCircuit

qc = QuantumCircuit(1)
qc.x(0)
print("done")
sys.exit()
