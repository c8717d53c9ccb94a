// expect: counts {"00": 0.5, "11": 0.5}
// expect: width 2
include "stdgates.inc";
qubit[2] q;
bit[2] c;
h q[0];
cx q[0], q[1];
c = measure q;
