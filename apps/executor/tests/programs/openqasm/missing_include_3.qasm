// expect-error: 'h'
// expect-error: include "stdgates.inc"
// expect-error: framework marqov
// expect-line: 7
OPENQASM 3.0;
qubit q;
h q;
