// expect: counts {"0110": 1}
OPENQASM 3.0;
include "stdgates.inc";
qubit[4] q;
bit[4] c;
let middle = q[1:2];
x middle;
c = measure q;
