# expect: counts {"111": 1}
from braket.circuits import Circuit

circuit = Circuit().x(0).x(1).x(2, control=[0, 1])
