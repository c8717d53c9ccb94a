# expect: counts {"00": 0.5, "11": 0.5}
# expect-warning: extract_state_vector
from braket.circuits import Circuit
from braket.devices import LocalSimulator

circ = Circuit().h(0).cnot(0, 1).state_vector()
print(LocalSimulator().run(circ, shots=0).result().values[0])
