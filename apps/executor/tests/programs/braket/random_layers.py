# expect: width 4
import numpy as np
from braket.circuits import Circuit

np.random.seed(2)
circuit = Circuit()
for _ in range(5):
    for q in range(4):
        gate = np.random.choice(["rx", "ry", "rz"])
        getattr(circuit, gate)(q, np.random.uniform(0, 2 * np.pi))
    circuit.cz(0, 1).cz(2, 3).cnot(1, 2)
