// expect: counts {"0": cos(pi/8)**2, "1": sin(pi/8)**2}
OPENQASM 2.0;
include "qelib1.inc";
qreg q[1];
creg c[1];
u2(0,pi) q[0];
u1(pi/4) q[0];
u2(0,pi) q[0];
measure q[0] -> c[0];
