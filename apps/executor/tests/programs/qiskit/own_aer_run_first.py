# expect: counts {"000": 0.5, "111": 0.5}
# expect-stdout: counts from my laptop's simulator
from qiskit import QuantumCircuit, transpile
from qiskit_aer import AerSimulator

n = 3
ghz = QuantumCircuit(n, n)
ghz.h(0)
for i in range(n - 1):
    ghz.cx(i, i + 1)
ghz.measure(range(n), range(n))

simulator = AerSimulator()
compiled = transpile(ghz, simulator)
job = simulator.run(compiled, shots=256)
counts = job.result().get_counts(compiled)
print("counts from my laptop's simulator:", sorted(counts))
circuit = ghz
