# expect: counts {"00": 0.5, "11": 0.5}
# expect-stdout: drawn True
import io

from qiskit import QuantumCircuit

qc = QuantumCircuit(2)
qc.h(0)
qc.cx(0, 1)
image = io.BytesIO()
qc.draw("mpl", style="iqp").savefig(image, format="png")
print("drawn", image.getvalue().startswith(b"\x89PNG"))
