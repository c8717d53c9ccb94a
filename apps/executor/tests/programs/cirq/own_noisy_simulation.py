# expect: counts {"0": 0.5, "1": 0.5}
# expect-stdout: noisy
import cirq

q = cirq.LineQubit(0)
circuit = cirq.Circuit(cirq.H(q), cirq.measure(q, key="m"))
noisy_simulator = cirq.DensityMatrixSimulator(noise=cirq.depolarize(0.1), seed=5)
print("noisy", noisy_simulator.run(circuit, repetitions=50).histogram(key="m"))
