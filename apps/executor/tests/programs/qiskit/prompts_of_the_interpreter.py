# expect-error: '>>>' is not part of the program
# expect-line: 3
>>> from qiskit import QuantumCircuit
>>> circuit = QuantumCircuit(1)
