// expect: counts {"0": 1}
OPENQASM 3.0;
include "stdgates.inc";
qubit q;
bit c;
h q;
c = measure q;
while (c == true) {
  h q;
  c = measure q;
}
