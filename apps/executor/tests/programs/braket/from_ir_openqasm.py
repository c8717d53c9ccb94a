# expect: counts {"10": 1}
from braket.circuits import Circuit
from braket.ir.openqasm import Program

source = "OPENQASM 3; qubit[2] q; bit[2] b; x q[0]; i q[1]; b[0] = measure q[0]; b[1] = measure q[1];"
circuit = Circuit.from_ir(Program(source=source))
