# expect: counts {"00": 0.5, "11": 0.5}
from marqov import Circuit

circuit = Circuit().h(0).cnot(0, 1)
