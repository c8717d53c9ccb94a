// expect: counts {"0": cos(0.3)**2, "1": sin(0.3)**2}
OPENQASM 3.0;
include "stdgates.inc";
const int n = 2;
const float theta = 0.6;
qubit[n] q;
bit c;
ry(theta) q[0];
c = measure q[0];
