// expect: counts {"1": 1}
// Exported from the composer,
//   on a Tuesday.
OPENQASM 2.0;
include "qelib1.inc";
qreg node[1]; creg m[1];
u3(pi,0,pi) node[0]; // an X
measure node->m;
