# expect: counts {"00": 0.5, "11": 0.5}
from qiskit import QuantumCircuit, qasm2, qpy

qc = QuantumCircuit(2)
qc.h(0)
qc.cx(0, 1)
with open("bell.qasm", "w") as f:
    qasm2.dump(qc, f)
circuit = QuantumCircuit.from_qasm_file("bell.qasm")
with open("bell.qpy", "wb") as f:
    qpy.dump(qc, f)
with open("bell.qpy", "rb") as f:
    loaded = qpy.load(f)[0]
assert loaded == qc
