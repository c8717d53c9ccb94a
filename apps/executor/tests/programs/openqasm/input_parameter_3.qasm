// expect-error: theta
// expect-line: 5
OPENQASM 3.0;
include "stdgates.inc";
input float[64] theta;
qubit q;
rx(theta) q;
