// expect-error: circuit needs 40 qubits
OPENQASM 2.0;
include "qelib1.inc";
qreg q[40];
h q;
