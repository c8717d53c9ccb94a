// expect-error: mygates.inc
// expect-line: 5
OPENQASM 2.0;
include "qelib1.inc";
include "mygates.inc";
qreg q[1];
