# expect: width 4
from qiskit.circuit.random import random_circuit

circuit = random_circuit(4, 5, max_operands=2, measure=True, seed=11)
print(circuit.count_ops())
