# expect: counts {"0110": 0.5, "1001": 0.5}
from __future__ import annotations

from dataclasses import dataclass, field

from qiskit import QuantumCircuit


@dataclass
class Layer:
    gate: str
    qubits: list[int] = field(default_factory=list)


class CircuitBuilder:
    def __init__(self, n: int) -> None:
        self.qc = QuantumCircuit(n)

    def add(self, layer: Layer) -> "CircuitBuilder":
        getattr(self.qc, layer.gate)(*layer.qubits)
        return self


builder = CircuitBuilder(4)
for layer in [Layer("h", [0]), Layer("cx", [0, 3]), Layer("cx", [0, 1]), Layer("cx", [0, 2]), Layer("x", [1]), Layer("x", [2])]:
    builder.add(layer)
circuit = builder.qc
