# expect: counts {"0": 0.5, "1": 0.5}
# expect-stdout: noisy counts
from qiskit import QuantumCircuit
from qiskit_aer import AerSimulator
from qiskit_aer.noise import NoiseModel, depolarizing_error

noise = NoiseModel()
noise.add_all_qubit_quantum_error(depolarizing_error(0.05, 1), ["h"])
qc = QuantumCircuit(1)
qc.h(0)
qc.measure_all()
print("noisy counts", AerSimulator(noise_model=noise).run(qc, shots=20).result().get_counts())
