# expect-error: 'bad' is not defined
# expect-error: (line 5 of the OpenQASM text)
# expect-line: 6
from qiskit import QuantumCircuit

program = """
OPENQASM 2.0;
include "qelib1.inc";
qreg q[1];
bad q[0];
"""
