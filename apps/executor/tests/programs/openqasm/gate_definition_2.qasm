// expect: counts {"111": 0.5, "000": 0.5}
OPENQASM 2.0;
include "qelib1.inc";
gate ghz a, b, c { h a; cx a, b; cx b, c; }
gate twist(theta, phi) a { rz(theta + phi/2) a; }
qreg q[3];
creg c[3];
ghz q[0], q[1], q[2];
twist(0.3, -pi) q[1];
barrier q;
measure q -> c;
