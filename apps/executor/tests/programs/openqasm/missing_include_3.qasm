// expect-error: 'h'
// expect-line: 5
OPENQASM 3.0;
qubit q;
h q;
