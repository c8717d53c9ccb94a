# expect: counts {"0": cos(0.1)**2, "1": sin(0.1)**2}
from braket.circuits import Circuit, FreeParameter

alpha = FreeParameter("alpha")
parametrised = Circuit().rx(0, alpha)
circuit = parametrised.make_bound_circuit({"alpha": 0.2})
