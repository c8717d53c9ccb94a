# expect: counts {"00": 0.25, "01": 0.25, "10": 0.25, "11": 0.25}
from typing import Sequence

import cirq


class Experiment:
    """Prepares and measures in X."""

    def __init__(self, qubits: Sequence[cirq.Qid]):
        self.qubits = qubits
        self._circuit = None

    @property
    def circuit(self) -> cirq.Circuit:
        if self._circuit is None:
            self._circuit = cirq.Circuit(map(cirq.H, self.qubits), cirq.measure(*self.qubits, key="x"))
        return self._circuit


experiment = Experiment(cirq.LineQubit.range(2))
my_circuit = experiment.circuit
