# expect: counts {"0": 0.5, "1": 0.5}
# expect-stdout: PNG bytes: True
import io

import matplotlib.pyplot as plt
from qiskit import QuantumCircuit
from qiskit_aer import AerSimulator
from qiskit.visualization import plot_histogram

qc = QuantumCircuit(1, 1)
qc.h(0)
qc.measure(0, 0)

counts = AerSimulator().run(qc, shots=100).result().get_counts()
figure = plot_histogram(counts, title="coin")
buffer = io.BytesIO()
figure.savefig(buffer, format="png")
print("PNG bytes:", len(buffer.getvalue()) > 1000)
plt.show()
