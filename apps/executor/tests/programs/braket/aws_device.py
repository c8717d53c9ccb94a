# expect-error: NoRegionError
# expect-error: the job's backend runs the circuit
# expect-line: 8
from braket.aws import AwsDevice
from braket.circuits import Circuit

bell = Circuit().h(0).cnot(0, 1)
device = AwsDevice("arn:aws:braket:::device/quantum-simulator/amazon/sv1")
task = device.run(bell, shots=1000)
print(task.result().measurement_counts)
