// expect: counts {"1": 1}
OPENQASM 3.0;
include "stdgates.inc";
qubit[2] q;
bit c;
x q[0];
c = measure q[0];
if (c == 1) { x q[1]; }
