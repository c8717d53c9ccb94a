# expect: counts {"10": 0.5, "00": 0.5}
# expect: registers ["probability"]
from braket.circuits import Circuit

circuit = Circuit().h(0).x(1).i(2)
circuit.probability(target=[0, 2])
