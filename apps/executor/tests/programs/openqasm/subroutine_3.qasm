// expect-error: 'def' (a subroutine
// expect-line: 5
OPENQASM 3.0;
include "stdgates.inc";
def flip(qubit a) { x a; }
qubit q;
flip(q);
