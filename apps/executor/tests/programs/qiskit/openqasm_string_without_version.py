# expect: counts {"00": 0.5, "11": 0.5}
from qiskit import QuantumCircuit

circuit = """
include "stdgates.inc";
qubit[2] q;
h q[0];
cx q[0], q[1];
"""
