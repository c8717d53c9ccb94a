// expect: counts {"11": 1}
// expect: registers ["a", "b"]
OPENQASM 2.0;
include "qelib1.inc";
qreg q[2];
creg a[1];
creg b[1];
x q[0];
measure q[0] -> a[0];
if (a == 1) x q[1];
measure q[1] -> b[0];
