// expect-error: 'defcalgrammar'
// expect-line: 4
OPENQASM 3.0;
defcalgrammar "openpulse";
qubit q;
