// expect: counts {"1111": 1}
OPENQASM 3.0;
include "stdgates.inc";
qubit[4] q;
x q[0];
ctrl @ x q[0], q[1];
ctrl(2) @ x q[0], q[1], q[2];
negctrl @ ctrl @ x q[3], q[0], q[1];
inv @ s q[3];
h q[3];
pow(2) @ s q[3];
h q[3];
negctrl @ ctrl @ x q[3], q[0], q[1];
x q[1];
