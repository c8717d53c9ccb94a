// expect: counts {"1": 1}
OPENQASM 3;
include "stdgates.inc";
qubit q;
x q;
