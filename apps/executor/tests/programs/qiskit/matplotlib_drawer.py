# expect-error: pylatexenc
# expect-error: draw("text")
# expect-line: 9
from qiskit import QuantumCircuit

qc = QuantumCircuit(2)
qc.h(0)
qc.cx(0, 1)
qc.draw("mpl", style="iqp")
