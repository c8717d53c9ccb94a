# expect: counts {"1": 1}
# expect-warning: verbatim: the gates of the box are simulated like all others
from braket.circuits import Circuit

circuit = Circuit().add_verbatim_box(Circuit().h(0).z(0)).h(0)
