"""The canonical form: a circuit as OpenQASM 3 text that reads back as the same circuit.

Where qiskit's exporter alone is not enough: it writes angles within 1e-9 of a fraction of pi as that fraction; it
defines a global phase as a gate without qubits, which no reader accepts; and it has no form for gates with matrices as
parameters, nor for composite operations that are not gates. Those are written by their definition. The definition of a
matrix lacks weak interactions, so it gets another one (matrix_circuits.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from qiskit import QuantumCircuit, qasm3, transpile
from qiskit.circuit import ControlFlowOp, Gate, Instruction, Operation, ParameterExpression, QuantumRegister, Qubit
from qiskit.circuit.library import GlobalPhaseGate, UnitaryGate
from qiskit.transpiler.passes import HighLevelSynthesis

from .matrix_circuits import WHOLE_QUBITS_MAX, does, further_syntheses

_NUMBERS = (int, float, np.integer, np.floating, ParameterExpression)
_DENOMINATOR_MAX = 16
"""The largest denominator d of the fractions that the exporter writes: n pi / d and n / (d pi)."""
_CLOSE, _EQUAL = 1e-7, 1e-14
"""Distances at which it may write a fraction, with a margin, and at which that fraction is the angle itself."""


def canonical_text(circuit: QuantumCircuit) -> str:
    """The circuit in OpenQASM 3. Raises the exporter's error for what that language cannot express."""
    written = _Writing().circuit(_without_aliases(circuit))
    text: str = qasm3.dumps(written, disable_constants=not _fractions_are_exact(written))
    return text


def _without_aliases(circuit: QuantumCircuit) -> QuantumCircuit:
    """The circuit without registers that only repeat qubits of others, as `let` makes them: the exporter refuses them,
    and operations name qubits."""
    kept: list[QuantumRegister] = []
    named: set[Qubit] = set()
    for register in circuit.qregs:
        if named.isdisjoint(register):
            kept.append(register)
            named.update(register)
    if len(kept) == len(circuit.qregs) or circuit.num_vars or circuit.num_stretches:
        return circuit
    plain = QuantumCircuit(global_phase=circuit.global_phase)
    plain.add_bits([*circuit.qubits, *circuit.clbits])
    plain.add_register(*kept, *circuit.cregs)
    for item in circuit.data:
        plain._append(item)
    return plain


class _Writing:
    """Copies of circuits in terms that the exporter can write. Equal definitions are converted once."""

    def __init__(self) -> None:
        self._done: dict[int, tuple[QuantumCircuit, Any]] = {}

    def circuit(self, circuit: QuantumCircuit) -> QuantumCircuit:
        if all(item.is_standard_gate() and item.operation.name not in _REWRITTEN for item in circuit.data):
            return circuit
        written = circuit.copy_empty_like()
        for item in circuit.data:
            operation = item.operation
            if isinstance(operation, GlobalPhaseGate):
                written.global_phase += operation.params[0]
            elif operation.name == "sxdg" and item.is_standard_gate():
                written._append(item.replace(operation=_SXDG))
            elif isinstance(operation, ControlFlowOp):
                blocks = [self.circuit(block) for block in operation.blocks]
                written._append(item.replace(operation=operation.replace_blocks(blocks)))
            elif not isinstance(operation, Instruction):
                written.compose(self.circuit(_synthesised(operation)), item.qubits, inplace=True)
            elif isinstance(operation, UnitaryGate) and 1 < operation.num_qubits <= WHOLE_QUBITS_MAX:
                written._append(item.replace(operation=_whole(operation)))
            elif item.is_standard_gate() or not _has_definition(operation):
                written._append(item)
            elif isinstance(operation, Gate):
                written._append(item.replace(operation=self._gate(operation)))
            else:
                written.compose(self._definition(operation), item.qubits, item.clbits, inplace=True)
        return written

    def _gate(self, gate: Gate) -> Gate:
        definition = self._definition(gate)
        has_numbers = all(isinstance(value, _NUMBERS) for value in gate.params)
        if definition is gate.definition and has_numbers:
            return gate
        copy = Gate(gate.name, gate.num_qubits, list(gate.params) if has_numbers else [])
        copy.definition = definition
        return copy

    def _definition(self, operation: Operation) -> QuantumCircuit:
        own = operation.definition
        if id(own) not in self._done:
            # The definition is kept too: its id is unique only while it lives.
            self._done[id(own)] = (self.circuit(own), own)
        return self._done[id(own)][0]


def _sxdg() -> Gate:
    gate = Gate("sxdg", 1, [])
    gate.definition = QuantumCircuit(1)
    gate.definition.x(0)
    gate.definition.sx(0)
    return gate


_SXDG = _sxdg()
"""The exporter's own definition of it has another phase. Readers know the gate by its name and this definition."""
_REWRITTEN = ("global_phase", "sxdg")


def _whole(gate: UnitaryGate) -> Gate:
    """The gate with a definition that leaves out nothing of its matrix and has only gates, which the exporter knows; or
    the gate itself where its own is such, or none is known."""
    matrix = gate.to_matrix()
    if gate.num_qubits == 2 and does(gate.definition, matrix):
        return gate
    for circuit in chain([gate.definition], further_syntheses(matrix)):
        # Of more qubits, a synthesis is made of circuits and of smaller matrices, with weak interactions of their own.
        plain = circuit if gate.num_qubits == 2 else transpile(circuit, basis_gates=["u3", "cx"], optimization_level=0)
        if does(plain, matrix):
            copy = Gate(gate.name, gate.num_qubits, [])
            copy.definition = plain
            return copy
    return gate


def _has_definition(operation: Operation) -> bool:
    # The exporter writes a matrix as a definition of its own.
    return getattr(operation, "definition", None) is not None and not hasattr(operation, "_qasm_decomposition")


def _synthesised(operation: Operation) -> QuantumCircuit:
    """An operation that is not an instruction (one with modifiers, a Clifford, ...) as gates."""
    alone = QuantumCircuit(operation.num_qubits)
    alone.append(operation, alone.qubits)
    synthesised: QuantumCircuit = HighLevelSynthesis()(alone)
    return synthesised


def _angles(circuit: QuantumCircuit, seen: set[int]) -> Iterator[float]:
    """Every number among the parameters of gates, those inside definitions and blocks included."""
    for item in circuit.data:
        yield from (value for value in item.params if isinstance(value, float))
        if item.is_standard_gate():
            continue
        operation = item.operation
        own = getattr(operation, "definition", None) if isinstance(operation, Gate) else None
        for block in operation.blocks if isinstance(operation, ControlFlowOp) else [own] if own is not None else []:
            if id(block) not in seen:
                seen.add(id(block))
                yield from _angles(block, seen)


def _fractions_are_exact(circuit: QuantumCircuit) -> bool:
    """Whether no angle is close to a number that the exporter writes for it without being that number."""
    angles = np.abs(np.fromiter(_angles(circuit, set()), dtype=float))
    for multiple in (angles / np.pi, angles * np.pi):
        for denominator in range(1, _DENOMINATOR_MAX + 1):
            distance = np.abs(multiple * denominator - np.rint(multiple * denominator))
            if np.any((distance < _CLOSE) & (distance > _EQUAL * np.maximum(1.0, multiple * denominator))):
                return False
    return True
