"""Scales the noise of a circuit by folding it, G -> G G^-1 G.

PennyLane's `fold_global` decides which operations are repeated. It folds a list of placeholders, each of which stands
for one operation of the circuit: a circuit that was converted to PennyLane and back would have other gates, and with
them other noise.
"""

from __future__ import annotations

from typing import Any

from pennylane.noise import fold_global
from pennylane.operation import Operation
from pennylane.ops.op_math import Adjoint
from pennylane.tape import QuantumScript
from qiskit import QuantumCircuit
from qiskit.circuit import CircuitInstruction

from ..engines.aer_target import without_saved_data
from ..engines.noise import NoiseSpec
from ..engines.noise_channels import in_noisy_gates
from ..engines.state_vector import before_measurements
from ..refusals import Unsupported


class _Placeholder(Operation):  # type: ignore[misc]
    num_params = 0
    num_wires = 1

    def __init__(self, place: int) -> None:
        super().__init__(wires=0)
        self.place = place


def foldable(circuit: QuantumCircuit, spec: NoiseSpec, source: str | None) -> QuantumCircuit:
    """The circuit before its final measurements, in the gates that noise acts on. Raises Unsupported for a circuit that
    cannot be inverted, and where the inverse of a gate has other noise than the gate."""
    gates = in_noisy_gates(before_measurements(without_saved_data(circuit), source, "mitigation.zne"), spec)
    for item in gates.data:
        inverse = item.operation.inverse()
        qubits = tuple(gates.find_bit(qubit).index for qubit in item.qubits)
        if _noise(spec, item.operation.name, qubits) != _noise(spec, inverse.name, qubits):
            raise Unsupported(
                f"mitigation.zne: the noise_model has an entry for '{item.operation.name}' that does not hold for its"
                f" inverse '{inverse.name}', so that folding would not scale the noise; give both the same"
            )
    return gates


def _noise(spec: NoiseSpec, name: str, qubits: tuple[int, ...]) -> tuple[float, float]:
    return spec.depolarizing(name, qubits), spec.time_ns(name, len(qubits))


def folded(gates: QuantumCircuit, factor: float) -> tuple[QuantumCircuit, float]:
    """The folded circuit, and by how much it has more gates: a part of a gate cannot be folded, so that it differs from
    the factor in a short circuit."""
    placeholders = [_Placeholder(place) for place in range(len(gates.data))]
    [script], _ = fold_global(QuantumScript(placeholders), scale_factor=factor)
    circuit = gates.copy_empty_like()
    for standing in script.operations:
        circuit._append(_instruction(gates, standing))
    return circuit, len(script.operations) / max(len(placeholders), 1)


def _instruction(gates: QuantumCircuit, standing: Any) -> CircuitInstruction:
    if isinstance(standing, Adjoint):
        item = gates.data[standing.base.place]
        return item.replace(operation=item.operation.inverse())
    return gates.data[standing.place]
