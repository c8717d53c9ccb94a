# expect: counts {"0": cos(0.3)**2, "1": sin(0.3)**2}
from braket.circuits import Circuit

circuit = Circuit().u(0, 0.6, 0.1, 0.2).gphase(0.5)
