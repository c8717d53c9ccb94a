# expect: counts {"100": 1}
# The phase of T is 1/8; the most significant counting qubit is the last, so outcome 001 reads 100.
import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit.library import QFTGate

qpe = QuantumCircuit(4, 3)
qpe.x(3)
for q in range(3):
    qpe.h(q)
repetitions = 1
for counting in range(3):
    for _ in range(repetitions):
        qpe.cp(np.pi / 4, counting, 3)
    repetitions *= 2
qpe.compose(QFTGate(3).inverse(), range(3), inplace=True)
qpe.measure(range(3), range(3))
