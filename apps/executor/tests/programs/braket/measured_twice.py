# expect-error: measure
# expect-line: 5
from braket.circuits import Circuit

circuit = Circuit().h(0).measure(0).measure(0)
