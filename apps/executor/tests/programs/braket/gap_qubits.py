# expect: counts {"01": 1}
# expect-warning: 1, 4
from braket.circuits import Circuit

circuit = Circuit().i(1).x(4)
