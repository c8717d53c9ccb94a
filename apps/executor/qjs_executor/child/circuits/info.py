"""Facts about a circuit for its result: sizes, gate counts and a text diagram."""

from __future__ import annotations

from typing import Any

from qiskit import QuantumCircuit
from qiskit.circuit import ControlFlowOp

DIAGRAM_QUBITS_MAX = 32
DIAGRAM_OPERATIONS_MAX = 200
DIAGRAM_LENGTH_MAX = 64 * 1024
DIAGRAM_COLUMNS = 120


def describe(circuit: QuantumCircuit, drawn: bool = True) -> dict[str, Any]:
    """`circuit_info` of the circuit as executed, measurements included; the executor adds registers."""
    measurements, mid_circuit = _measurements(circuit)
    return {
        "num_qubits": circuit.num_qubits,
        "num_clbits": circuit.num_clbits,
        "depth": circuit.depth(),
        "size": circuit.size(),
        "gate_counts": {str(name): int(count) for name, count in circuit.count_ops().items()},
        "two_qubit_gates": sum(
            1
            for item in circuit.data
            if len(item.qubits) == 2
            and not item.clbits
            and item.operation.name not in ("barrier", "delay")
            and not isinstance(item.operation, ControlFlowOp)
        ),
        "num_measurements": measurements,
        "has_mid_circuit_measurement": mid_circuit,
        "diagram": _diagram(circuit) if drawn else "(no diagram: a point of a sweep)",
    }


def _measurements(circuit: QuantumCircuit) -> tuple[int, bool]:
    """How many measurements the circuit has, and whether anything but a barrier follows one on its qubit."""
    count = 0
    mid_circuit = False
    measured: set[Any] = set()
    for item in circuit.data:
        operation = item.operation
        if isinstance(operation, ControlFlowOp):
            inner = sum(_measurements(block)[0] for block in operation.blocks)
            count += inner
            mid_circuit = mid_circuit or inner > 0 or bool(measured)
        elif operation.name != "barrier":
            mid_circuit = mid_circuit or not measured.isdisjoint(item.qubits)
        if operation.name == "measure":
            count += 1
            measured.update(item.qubits)
    return count, mid_circuit


def _diagram(circuit: QuantumCircuit) -> str:
    if circuit.num_qubits > DIAGRAM_QUBITS_MAX or circuit.size() > DIAGRAM_OPERATIONS_MAX:
        return f"(no diagram: {circuit.size()} operations on {circuit.num_qubits} qubits)"
    try:
        diagram = str(circuit.draw("text", fold=DIAGRAM_COLUMNS))
    except Exception as error:
        return f"(no diagram: {type(error).__name__})"
    return diagram if len(diagram) <= DIAGRAM_LENGTH_MAX else "(no diagram: too large)"
