// expect: counts {"10": 1}
OPENQASM 3.0;
include "stdgates.inc";
qubit q;
bit[2] c;
x q;
c[0] = measure q;
reset q;
c[1] = measure q;
