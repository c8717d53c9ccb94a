# expect: counts {"111": 1}
import numpy as np
from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister

n = 3
rng = np.random.default_rng(seed=3)


def balanced_oracle():
    oracle = QuantumCircuit(n + 1)
    for qubit in range(n):
        oracle.cx(qubit, n)
    return oracle


q = QuantumRegister(n, "x")
a = QuantumRegister(1, "ancilla")
c = ClassicalRegister(n, "answer")
dj = QuantumCircuit(q, a, c)
dj.x(a)
dj.h(a)
dj.h(q)
dj.barrier()
dj = dj.compose(balanced_oracle())
dj.barrier()
dj.h(q)
dj.measure(q, c)
print(dj)
