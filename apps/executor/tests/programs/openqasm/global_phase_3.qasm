// expect: counts {"0": 0.5, "1": 0.5}
OPENQASM 3.0;
include "stdgates.inc";
qubit q;
gphase(pi / 3);
U(pi / 2, 0, pi) q;
