# expect: counts {"0": 0.5, "1": 0.5}
# expect-stdout: saved True
import io

import cirq
import matplotlib.pyplot as plt

q = cirq.LineQubit(0)
circuit = cirq.Circuit(cirq.H(q), cirq.measure(q, key="m"))
counts = cirq.Simulator(seed=1).run(circuit, repetitions=100)
cirq.plot_state_histogram(counts, plt.subplot())
buffer = io.BytesIO()
plt.savefig(buffer)
print("saved", buffer.tell() > 1000)
