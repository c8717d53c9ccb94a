# expect: counts {"0": cos(0.2)**2, "1": sin(0.2)**2}
import cirq
import numpy as np


class MyGate(cirq.Gate):
    def __init__(self, angle):
        super().__init__()
        self.angle = angle

    def _num_qubits_(self):
        return 1

    def _unitary_(self):
        c, s = np.cos(self.angle), np.sin(self.angle)
        return np.array([[c, -s], [s, c]])

    def _circuit_diagram_info_(self, args):
        return f"My({self.angle})"


q = cirq.q("a")
circuit = cirq.Circuit(MyGate(0.2).on(q), cirq.measure(q))
print(circuit)
