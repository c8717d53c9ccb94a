// expect: counts {"11": 1}
OPENQASM 3.0;
include "stdgates.inc";
gate oracle a, b { cz a, b; }
gate diffuser a, b { h a; h b; x a; x b; cz a, b; x a; x b; h a; h b; }
qubit[2] q;
bit[2] result;
h q;
oracle q[0], q[1];
diffuser q[0], q[1];
result = measure q;
