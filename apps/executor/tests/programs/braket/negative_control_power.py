# expect: counts {"01": 1}
from braket.circuits import Circuit

circuit = Circuit().i(0).v(1, control=0, control_state=[0], power=2)
