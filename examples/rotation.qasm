OPENQASM 3.0;
include "stdgates.inc";
input float theta;
qubit[2] q;
rx(theta) q[0];
cx q[0], q[1];
