# expect: counts {"1": 1}
# expect-warning: 'second', assigned last
from qiskit import QuantumCircuit

first = QuantumCircuit(1)
first.h(0)
second = QuantumCircuit(1)
second.x(0)
