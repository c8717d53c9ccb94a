# expect-error: Verbatim
# expect-line: 5
from braket.circuits import Circuit

circuit = Circuit().add_verbatim_box(Circuit().h(0))
