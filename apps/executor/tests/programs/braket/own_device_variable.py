# expect: counts {"1": 1}
# expect-stdout: Counter({'1': 20})
from braket.circuits import Circuit
from braket.devices import LocalSimulator

device = LocalSimulator()
circuit = Circuit().x(0)
task = device.run(circuit, shots=20)
counts = task.result().measurement_counts
print(counts)
