# expect: counts {"000": cos(0.4)**2/4, "010": cos(0.4)**2/4, "100": cos(0.4)**2/4, "110": cos(0.4)**2/4, "001": sin(0.4)**2/4, "011": sin(0.4)**2/4, "101": sin(0.4)**2/4, "111": sin(0.4)**2/4}
# expect: registers ["crz", "crx", "out"]
from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister

qr = QuantumRegister(3, name="q")
crz, crx, out = ClassicalRegister(1, "crz"), ClassicalRegister(1, "crx"), ClassicalRegister(1, "out")
teleport = QuantumCircuit(qr, crz, crx, out)
teleport.ry(0.8, 0)
teleport.barrier()
teleport.h(1)
teleport.cx(1, 2)
teleport.barrier()
teleport.cx(0, 1)
teleport.h(0)
teleport.measure(0, crz)
teleport.measure(1, crx)
with teleport.if_test((crx, 1)):
    teleport.x(2)
with teleport.if_test((crz, 1)):
    teleport.z(2)
teleport.measure(2, out)
