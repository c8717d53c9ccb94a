# expect: counts {"00": cos(0.15)**2, "11": sin(0.15)**2}
from braket.circuits import Circuit, FreeParameter

theta = FreeParameter("theta")
template = Circuit().ry(0, 2 * theta).cnot(0, 1)
circuit = template(theta=0.15)
