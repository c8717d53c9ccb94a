// expect: counts {"1011": 1}
OPENQASM 3.0;
include "stdgates.inc";
qubit[3] q;
bit[2] c;
bit d;
bit e;
x q[0];
c[0] = measure q[0];
c[1] = measure q[1];
if (c == 1) { x q[2]; }
d = measure q[2];
e = measure q[2];
