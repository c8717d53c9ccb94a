# expect-error: No module named 'IPython'
# expect-error: print()
# expect-line: 4
from IPython.display import display
from qiskit import QuantumCircuit

circuit = QuantumCircuit(1)
display(circuit)
