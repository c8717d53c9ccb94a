# expect: counts {"11": 0.5, "00": 0.5}
# expect: registers ["alice", "bob"]
from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister

q = QuantumRegister(2, "q")
alice, bob = ClassicalRegister(1, "alice"), ClassicalRegister(1, "bob")
qc = QuantumCircuit(q, alice, bob)
qc.h(q[0])
qc.measure(q[0], alice[0])
with qc.if_test((alice, 1)):
    qc.x(q[1])
qc.measure(q[1], bob[0])
