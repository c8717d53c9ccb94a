// expect: counts {"000": cos(0.4)**2/4, "010": cos(0.4)**2/4, "100": cos(0.4)**2/4, "110": cos(0.4)**2/4, "001": sin(0.4)**2/4, "011": sin(0.4)**2/4, "101": sin(0.4)**2/4, "111": sin(0.4)**2/4}
OPENQASM 3;
include "stdgates.inc";
qubit[3] q;
bit c0;
bit c1;
bit c2;
ry(0.8) q[0];
h q[1];
cx q[1], q[2];
barrier q;
cx q[0], q[1];
h q[0];
c0 = measure q[0];
c1 = measure q[1];
if (c0) { z q[2]; }
if (c1 == true) { x q[2]; }
c2 = measure q[2];
