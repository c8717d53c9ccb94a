// expect-error: int
// expect-line: 6
OPENQASM 3.0;
include "stdgates.inc";
qubit q;
int[32] n = 3;
n += 1;
x q;
