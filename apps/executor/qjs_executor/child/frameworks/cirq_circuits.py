"""Converts circuits of Cirq with Cirq's own OpenQASM exporter, one operation at a time. Qubits are in Cirq's default
order. Each measurement becomes a register named after its key, in the order of the measurements, its qubits in the
order of the `measure`; `invert_mask` is honoured.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import cirq
import numpy as np
import sympy

from ..adapted_circuit import AdaptedCircuit
from ..circuits.inputs import values_of
from ..refusals import Unsupported
from .program import (
    DECOMPOSED_QUBITS_MAX,
    PROVEN_QUBITS_MAX,
    Condition,
    Matrix,
    Program,
    controlled,
    faithful,
    on,
    statements_of,
    synthesised,
)

_PRECISION = 17
"""Digits after the point; the exporter's own default of 10 changes angles."""

_Flat = tuple[cirq.Operation, tuple[cirq.Condition, ...]]


def is_circuit(value: object) -> bool:
    """Whether this is a circuit of Cirq."""
    return isinstance(value, cirq.AbstractCircuit)


def with_inputs(value: cirq.AbstractCircuit, params: Mapping[str, Any]) -> cirq.AbstractCircuit:
    """The circuit with the values that the job's parameters have for its symbols."""
    values = values_of(cirq.parameter_names(value), params)
    return cirq.resolve_parameters(value, values) if values else value


def to_found(value: cirq.AbstractCircuit, shots: int) -> AdaptedCircuit:  # noqa: ARG001
    """The circuit in OpenQASM 3. Raises Unsupported naming operation and qubit."""
    return _Writer(value).found()


class _Writer:
    def __init__(self, circuit: cirq.AbstractCircuit) -> None:
        self._qubits = sorted(circuit.all_qubits())
        self._index = {qubit: place for place, qubit in enumerate(self._qubits)}
        for qubit in self._qubits:
            if qubit.dimension != 2:
                raise Unsupported(f"qubit {qubit} has {qubit.dimension} levels; only two-level qubits can be run")
        self._program = Program(len(self._qubits))
        self._operations = [flat for op in circuit.all_operations() for flat in _flattened(op, ())]
        # The measurements of each key in order: register and size.
        self._registers: dict[str, list[tuple[str, int]]] = {}
        self._shown: list[str] = []
        self._pieces: dict[cirq.Gate, tuple[list[str], Matrix]] = {}
        self._warnings: list[str] = []

    def found(self) -> AdaptedCircuit:
        last = {q: place for place, (op, _) in enumerate(self._operations) for q in op.qubits}
        for place, (operation, conditions) in enumerate(self._operations):
            gate = operation.gate
            shown = tuple(self._condition(condition) for condition in conditions)
            flat = tuple(part for parts in shown for part in parts)
            if isinstance(gate, cirq.MeasurementGate):
                _refuse_conditional(operation, conditions)
                self._measure(operation, gate, {q for q in operation.qubits if last[q] > place})
            elif isinstance(gate, cirq.ResetChannel):
                self._program.reset(self._index[operation.qubits[0]], flat)
            elif isinstance(gate, cirq.WaitGate):
                warning = "the durations of wait operations are not kept"
                self._warnings += [] if warning in self._warnings else [warning]
            elif operation.qubits:
                self._unitary(operation, flat)
        text = self._program.proven()
        for key, taken in self._registers.items():
            if len(taken) > 1:
                self._warnings.append(
                    f"the key '{key}' is measured {len(taken)} times: each time has a register of its own in the"
                    f" counts, called {key}, {key}#2{'' if len(taken) == 2 else ' and so on'}"
                )
        return AdaptedCircuit(text, self._shown or None, None, self._warnings)

    def _measure(self, operation: cirq.Operation, gate: cirq.MeasurementGate, used_later: set[cirq.Qid]) -> None:
        key = cirq.measurement_key_name(operation)
        if gate.confusion_map:
            raise Unsupported(f"measure '{key}'{on(operation.qubits)}: a confusion map is noise; it cannot be run")
        taken = self._registers.setdefault(key, [])
        if taken and taken[0][1] != len(operation.qubits):
            raise Unsupported(
                f"measure '{key}'{on(operation.qubits)}: the key stands for {taken[0][1]} qubits elsewhere; give each"
                " measurement its own key"
            )
        register = self._program.register(len(operation.qubits), f"c{len(self._shown)}")
        taken.append((register, len(operation.qubits)))
        self._shown.append(key if len(taken) == 1 else f"{key}#{len(taken)}")
        flip: Matrix = np.array([[0, 1], [1, 0]], dtype=complex)
        for bit, (qubit, inverted) in enumerate(zip(operation.qubits, gate.full_invert_mask(), strict=True)):
            place = self._index[qubit]
            if inverted:
                self._program.gate("invert_mask", ["x {0};"], [place], flip)
            self._program.measure(place, register, bit)
            if inverted and qubit in used_later:
                self._program.gate("invert_mask", ["x {0};"], [place], flip)

    def _unitary(self, operation: cirq.Operation, conditions: tuple[Condition, ...]) -> None:
        if len(operation.qubits) > DECOMPOSED_QUBITS_MAX and not conditions and self._controlled(operation):
            return
        if len(operation.qubits) > PROVEN_QUBITS_MAX:
            parts = cirq.decompose_once(operation, None)
            if parts is None:
                raise Unsupported(f"{operation} acts on {len(operation.qubits)} qubits and has no decomposition")
            for part in parts:
                for unknown in sorted(set(part.qubits) - set(self._index)):
                    raise Unsupported(f"{operation} needs the further qubit {unknown}, which is not in the circuit")
                if part.qubits:
                    self._unitary(part, conditions)
            return
        gate = operation.gate
        if gate is not None and gate in self._pieces:
            statements, matrix = self._pieces[gate]
        else:
            matrix = cirq.unitary(operation)
            try:
                statements = _exported(operation)
            except (ValueError, TypeError):
                statements = []
            # Some of the exporter's texts differ from Cirq's own matrix (ThreeQubitDiagonalGate), others are missing.
            known = len(statements) == 1 or (len(statements) > 1 and faithful(statements, matrix))
            if not known:
                statements = synthesised(str(operation), (), matrix)
            if gate is not None:
                self._pieces[gate] = (statements, matrix)
        self._program.gate(str(operation), statements, [self._index[q] for q in operation.qubits], matrix, conditions)

    def _controlled(self, operation: cirq.Operation) -> bool:
        """Writes a gate with many controls as such, if it can be."""
        gate = operation.gate
        if not isinstance(gate, cirq.ControlledGate) or len(set(gate.control_values.expand())) != 1:
            return False
        own = gate.sub_gate.on(*operation.qubits[gate.num_controls() :])
        if len(own.qubits) > DECOMPOSED_QUBITS_MAX or not cirq.has_unitary(own):
            return False
        matrix = cirq.unitary(own)
        (values,) = gate.control_values.expand()
        try:
            statements = controlled(_exported(own), matrix, values)
        except (ValueError, TypeError):
            return False
        if statements is None:
            return False
        places = [self._index[qubit] for qubit in operation.qubits]
        self._program.gate(str(operation), statements, places, matrix, controls=tuple(values))
        return True

    def _condition(self, condition: cirq.Condition) -> tuple[Condition, ...]:
        """The conditions, all of which have to hold. Cirq reads the first measured qubit as most significant, OpenQASM
        as least."""
        refusal = Unsupported(f"classical control '{condition}' cannot be written in OpenQASM 3")
        mask: int | None = None
        index = -1
        if isinstance(condition, cirq.KeyCondition):
            index = condition.index
            key, value, holds = str(condition.key), 0, False
        elif isinstance(condition, cirq.BitMaskKeyCondition):
            index = condition.index
            key, value, holds, mask = (
                str(condition.key),
                condition.target_value,
                condition.equal_target,
                condition.bitmask,
            )
        elif isinstance(condition, cirq.SympyCondition) and isinstance(condition.expr, sympy.Eq | sympy.Ne):
            symbol, number = condition.expr.lhs, condition.expr.rhs
            if not isinstance(symbol, sympy.Symbol) or not isinstance(number, sympy.Integer):
                raise refusal
            key, value, holds = symbol.name, int(number), isinstance(condition.expr, sympy.Eq)
        else:
            raise refusal
        if key not in self._registers:
            raise Unsupported(f"classical control '{condition}': key '{key}' has not been measured before")
        if not -len(self._registers[key]) <= index < len(self._registers[key]):
            raise Unsupported(f"classical control '{condition}': key '{key}' has not been measured so often before")
        register, size = self._registers[key][index]
        if not 0 <= value < 1 << size:
            raise refusal
        digits = [value >> (size - 1 - bit) & 1 for bit in range(size)]
        if size == 1 and mask is None:
            return (Condition(register, None, value if holds else 1 - value),)
        if mask is None:
            return (Condition(register, None, sum(digit << bit for bit, digit in enumerate(digits)), holds),)
        masked = [bit for bit in range(size) if mask >> (size - 1 - bit) & 1]
        if value & ~mask or not masked or (not holds and len(masked) > 1):
            raise refusal
        return tuple(Condition(register, bit, digits[bit], holds) for bit in masked)


def _exported(operation: cirq.Operation) -> list[str]:
    output = cirq.QasmOutput((operation,), operation.qubits, precision=_PRECISION, version="3.0")
    with warnings.catch_warnings():
        # The exporter warns that it does not write a global phase.
        warnings.simplefilter("ignore")
        return statements_of(str(output))


def _flattened(operation: cirq.Operation, conditions: tuple[cirq.Condition, ...]) -> Iterator[_Flat]:
    """Operations without tags, subcircuits and classical controls of their own; refuses what is neither unitary nor a
    measurement."""
    if isinstance(operation.untagged, cirq.ClassicallyControlledOperation):
        # Cirq keeps the controls as a set: sorted, so that the same circuit always gives the same text.
        own = tuple(sorted(operation.classical_controls, key=str))
        yield from _flattened(operation.without_classical_controls(), conditions + own)
        return
    operation = operation.untagged
    names = sorted(cirq.parameter_names(operation))
    if names:
        raise Unsupported(
            f"{operation}: the parameter{'s' if len(names) > 1 else ''} {', '.join(names)} has no value; set it in the"
            " job's params, or bind it with cirq.resolve_parameters(circuit, {...})"
        )
    if isinstance(operation, cirq.CircuitOperation):
        if operation.repeat_until is not None:
            raise Unsupported(f"CircuitOperation{on(operation.qubits)}: 'repeat_until' cannot be written in OpenQASM 3")
        for inner in operation.mapped_circuit(deep=False).all_operations():
            yield from _flattened(inner, conditions)
    elif isinstance(operation.gate, cirq.MeasurementGate | cirq.ResetChannel | cirq.WaitGate):
        yield operation, conditions
    elif cirq.is_measurement(operation):
        parts = cirq.decompose_once(operation, None)
        if parts is None:
            raise Unsupported(f"{operation} is a measurement that cannot be written in OpenQASM 3")
        _refuse_conditional(operation, conditions)
        for part in parts:
            yield from _flattened(part, conditions)
    elif not cirq.has_unitary(operation):
        raise Unsupported(f"{operation} is not unitary (set noise in params.noise_model)")
    else:
        yield operation, conditions


def _refuse_conditional(operation: cirq.Operation, conditions: tuple[cirq.Condition, ...]) -> None:
    if conditions:
        raise Unsupported(f"{operation}: a measurement under classical control cannot be counted")
