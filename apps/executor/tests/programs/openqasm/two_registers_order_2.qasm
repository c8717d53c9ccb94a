// expect: counts {"1001": 1}
// expect: registers ["first", "second"]
OPENQASM 2.0;
include "qelib1.inc";
qreg a[2];
qreg b[2];
creg first[2];
creg second[2];
x a[0];
x b[1];
measure a -> first;
measure b -> second;
