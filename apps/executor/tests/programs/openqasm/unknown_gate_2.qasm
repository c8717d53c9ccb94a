// expect-error: foo
// expect-line: 6
OPENQASM 2.0;
include "qelib1.inc";
qreg q[1];
foo q[0];
