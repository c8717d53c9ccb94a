# expect: counts {"0": 0.5, "1": 0.5}
# expect-stdout: drawn
import io

import matplotlib.pyplot as plt
import pennylane as qml


@qml.qnode(qml.device("default.qubit", wires=1))
def circuit():
    qml.Hadamard(0)
    return qml.probs(wires=0)


fig, ax = qml.draw_mpl(circuit)()
fig.savefig(io.BytesIO())
print("drawn")
