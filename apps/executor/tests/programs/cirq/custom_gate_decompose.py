# expect: counts {"11": 1}
import cirq


class DoubleFlip(cirq.Gate):
    def _num_qubits_(self):
        return 2

    def _decompose_(self, qubits):
        yield cirq.X.on_each(*qubits)


a, b = cirq.LineQubit.range(2)
circuit = cirq.Circuit(DoubleFlip()(a, b), cirq.measure(a, b, key="r"))
