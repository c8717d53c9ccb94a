# expect: counts {"0": 0.5, "1": 0.5}
# expect-stdout: noisy
# expect-warning: several circuits were found; 'clean', assigned last
from braket.circuits import Circuit
from braket.devices import LocalSimulator

noisy_circuit = Circuit().h(0).bit_flip(0, 0.1)
print("noisy", sum(LocalSimulator("braket_dm").run(noisy_circuit, shots=10).result().measurement_counts.values()))
clean = Circuit().h(0)
