# expect: counts {"11111111111": 1}
from braket.circuits import Circuit

n = 10
circuit = Circuit()
for q in range(n):
    circuit.x(q)
circuit.x(n, control=range(n))
