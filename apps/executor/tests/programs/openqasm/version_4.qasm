// expect-error: OpenQASM version 4.0 is not known
// expect-line: 3
OPENQASM 4.0;
qubit q;
