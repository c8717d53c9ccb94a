# expect: counts {"0000": 0.5, "1111": 0.5}
from braket.circuits import Circuit


def ghz(n_qubits):
    circuit = Circuit()
    circuit.h(0)
    for ii in range(0, n_qubits - 1):
        circuit.cnot(control=ii, target=ii + 1)
    return circuit


circuit = ghz(4)
