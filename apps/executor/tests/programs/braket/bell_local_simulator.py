# expect: counts {"00": 0.5, "11": 0.5}
# expect-stdout: T  : │
from braket.circuits import Circuit
from braket.devices import LocalSimulator

bell = Circuit().h(0).cnot(0, 1)
print(bell)
device = LocalSimulator()
print(device.run(bell, shots=100).result().measurement_counts)
