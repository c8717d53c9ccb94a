// expect: counts {"001": 1}
OPENQASM 2.0;
include "qelib1.inc";
qreg q[3];
creg c[3];
x q[0];
measure q[0] -> c[2];
measure q[1] -> c[1];
measure q[2] -> c[0];
