# expect-error: the parameter theta of the circuit has no value
# expect-error: make_bound_circuit
# expect-line: 8
from braket.circuits import Circuit, FreeParameter
from braket.devices import LocalSimulator

theta = FreeParameter("theta")
circuit = Circuit().rx(0, theta)
result = LocalSimulator().run(circuit, shots=10, inputs={"theta": 0.3}).result()
print(result.measurement_counts)
