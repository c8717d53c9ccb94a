# expect: counts {"00": 0.5, "11": 0.5}
from marqov import Circuit

program = """
OPENQASM 3.0;
include "stdgates.inc";
qubit[2] q;
h q[0];
cx q[0], q[1];
"""
circuit = Circuit.from_openqasm(program)
