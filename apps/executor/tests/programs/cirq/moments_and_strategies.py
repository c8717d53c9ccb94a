# expect: counts {"111": 0.5, "000": 0.5}
# expect-stdout: 3 moments
import cirq
from cirq import InsertStrategy

q = [cirq.GridQubit(i, 0) for i in range(3)]
circuit = cirq.Circuit()
circuit.append(cirq.Moment([cirq.H(q[0])]))
circuit.append([cirq.CNOT(q[0], q[1])], strategy=InsertStrategy.NEW)
circuit.append([cirq.CNOT(q[1], q[2])], strategy=InsertStrategy.NEW_THEN_INLINE)
print(len(circuit), "moments")
print(repr(circuit[0]))
