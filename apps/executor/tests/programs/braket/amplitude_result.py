# expect-error: Amplitude
# expect-line: 5
from braket.circuits import Circuit

circ = Circuit().h(0).cnot(0, 1).amplitude(state=["00", "11"])
