// expect: counts {"100": 1}
OPENQASM 2.0;
include "qelib1.inc";
qreg q[3];
x q[0];
