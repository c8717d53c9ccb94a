# expect-error: no solution
# expect-line: 7
import sys

from qiskit import QuantumCircuit

sys.exit("no solution")
