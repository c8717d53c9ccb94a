# expect: counts {"111": 0.5, "000": 0.5}
from braket.circuits import Circuit, circuit


@circuit.subroutine(register=True)
def entangle(n):
    c = Circuit().h(0)
    for i in range(n - 1):
        c.cnot(i, i + 1)
    return c


my_circuit = Circuit().entangle(3)
