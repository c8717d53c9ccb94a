# expect: counts {"0": 0.5, "1": 0.5}
# expect-stdout: OPENQASM 2.0
from marqov import Circuit

circuit = Circuit().h(0)
print(circuit.to_openqasm())
print(circuit.to_cirq())
print(circuit.to_qiskit())
