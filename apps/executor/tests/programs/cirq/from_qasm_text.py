# expect: counts {"01": 1}
# expect: registers ["c_0", "c_1"]
import cirq
from cirq.contrib.qasm_import import circuit_from_qasm

circuit = circuit_from_qasm(
    """
    OPENQASM 2.0;
    include "qelib1.inc";
    qreg q[2];
    creg c[2];
    x q[1];
    measure q -> c;
    """
)
