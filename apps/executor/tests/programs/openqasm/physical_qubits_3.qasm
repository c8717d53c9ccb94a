// expect: counts {"1": 1}
OPENQASM 3.0;
include "stdgates.inc";
x $0;
