# expect: counts {"01": 1}
from braket.circuits import Circuit

circuit = Circuit().x(2).h(1).h(1).measure([1, 2])
