// expect: counts {"000": 0.125, "001": 0.125, "010": 0.125, "011": 0.125, "100": 0.125, "101": 0.125, "110": 0.125, "111": 0.125}
OPENQASM 2.0;
include "qelib1.inc";

qreg q[3];
creg c[3];

// quantum Fourier transform
h q[2];
cu1(pi/2) q[1], q[2];
h q[1];
cu1(pi/4) q[0],q[2];
cu1(pi/2) q[0],q[1];
h q[0];
swap q[0],q[2];
measure q[0] -> c[0];
measure q[1] -> c[1];
measure q[2] -> c[2];
