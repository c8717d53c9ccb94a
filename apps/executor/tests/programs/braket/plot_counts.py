# expect: counts {"0": 0.5, "1": 0.5}
# expect-stdout: plotted
import io

import matplotlib.pyplot as plt
from braket.circuits import Circuit
from braket.devices import LocalSimulator

circuit = Circuit().h(0)
counts = LocalSimulator().run(circuit, shots=50).result().measurement_counts
plt.bar(counts.keys(), counts.values())
plt.xlabel("bitstrings")
plt.savefig(io.BytesIO())
print("plotted")
