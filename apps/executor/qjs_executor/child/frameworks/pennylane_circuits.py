"""Converts QNodes and tapes of PennyLane with its own decompositions and OpenQASM exporter, one operation at a time.
Qubits are in the order of the device's wires. A QNode's function is called once, with the arguments of the QNode's last
call by the program, if any, and nothing is executed. Measurements in the middle become further qubits, as PennyLane's
own `defer_measurements` makes them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pennylane as qml
from pennylane import measurements as mp
from pennylane.exceptions import DecompositionUndefinedError
from pennylane.operation import Channel, Operator, StatePrepBase
from pennylane.tape import QuantumScript
from pennylane.workflow import construct_batch

from ..adapted_circuit import AdaptedCircuit
from ..refusals import Unsupported
from .program import (
    DECOMPOSED_QUBITS_MAX,
    PROVEN_QUBITS_MAX,
    Matrix,
    Program,
    controlled,
    faithful,
    on,
    statements_of,
    synthesised,
)
from .qnode_calls import arguments_of, recorded_lines
from .readout import Readout, Terms, product, weighted_sum

_BITS = {mp.CountsMP: "counts", mp.SampleMP: "sample", mp.ProbabilityMP: "probs"}
_DEPTH_MAX = 32
"""Nested decompositions; an operation that decomposes into itself would never end."""
_Piece = tuple[list[str], Matrix | None, bool]


def is_circuit(value: object) -> bool:
    """Whether this is a QNode or a tape."""
    return isinstance(value, qml.QNode | QuantumScript)


def to_found(value: Any, shots: int) -> AdaptedCircuit:  # noqa: ARG001
    """The circuit in OpenQASM 3. Raises Unsupported naming operation and wire."""
    warnings: list[str] = []
    tape, wires, lines = _tape(value, warnings)
    measured_lines = [lines.get(id(measured)) for measured in tape.measurements]
    operation_lines = [lines.get(id(operation)) for operation in tape.operations]
    if tape.batch_size is not None:
        raise Unsupported(
            f"the circuit has a batch of {tape.batch_size} values for a parameter; give every parameter one value"
        )
    explicit = [_with_wires(measured, wires) for measured in tape.measurements]
    tape = tape.copy(operations=tape.operations, measurements=explicit)
    tape = _one(qml.transforms.convert_to_numpy_parameters(tape), "convert_to_numpy_parameters")
    if any(isinstance(op, qml.ops.MidMeasure | qml.ops.Conditional) for op in tape.operations):
        tape = _deferred(tape, operation_lines)
        operation_lines = []
        warnings.append("measurements in the middle of the circuit were deferred to its end, on further qubits")
    extra = [wire for wire in tape.wires if wire not in wires]
    writer = _Writer([*wires, *extra])
    for operation, line in itertools.zip_longest(tape.operations, operation_lines):
        with _at(line):
            writer.operation(operation, warnings, 0)
    if all(isinstance(measured, mp.StateMP) for measured in tape.measurements) and extra:
        writer.readout.bits("state", [writer.index[wire] for wire in wires])
    for measured, line in zip(tape.measurements, measured_lines, strict=True):
        with _at(line):
            writer.measurement(measured, warnings)
    names, observed = writer.readout.write(writer.program)
    return AdaptedCircuit(writer.program.proven(), names, observed, warnings, writer.readout.turned)


def _tape(value: Any, warnings: list[str]) -> tuple[QuantumScript, list[Any], dict[int, int]]:
    """The tape after the user's own transforms, the wires in order, and the lines of what was queued, by id."""
    if isinstance(value, QuantumScript):
        return value, _standard_wires(value), {}
    name = getattr(value.func, "__name__", "circuit")
    args, kwargs = arguments_of(value, name, warnings)
    with recorded_lines() as lines:
        tape = _one(construct_batch(value, level="user")(*args, **kwargs), f"QNode '{name}'")
    wires = value.device.wires
    if wires is None:
        return tape, _standard_wires(tape), lines
    unknown = [wire for wire in tape.wires if wire not in wires]
    if unknown:
        raise Unsupported(f"QNode '{name}' uses wire{on(unknown).removeprefix(' on qubit')}, which its device lacks")
    return tape, list(wires), lines


@contextmanager
def _at(line: int | None) -> Iterator[None]:
    """Refusals inside are about what stands on a line."""
    try:
        yield
    except Unsupported as refusal:
        refusal.line = refusal.line or line
        raise


def _standard_wires(tape: QuantumScript) -> list[Any]:
    """The order in which PennyLane's devices simulate a tape when no wires were declared: by number when the wires are
    0, 1, 2, ..., else by first use."""
    wires = list(tape.wires)
    used = {wire for operation in tape.operations for wire in operation.wires}
    if used == set(range(len(used))) and set(wires) == set(range(len(wires))):
        return sorted(wires)
    return wires


def _one(transformed: tuple[Any, Any], name: str) -> QuantumScript:
    """The only tape of a transform whose result needs no further computation."""
    tapes, processing = transformed
    marker = object()
    try:
        result = processing((marker,)) if len(tapes) == 1 else None
        untouched = result is marker or (isinstance(result, tuple) and len(result) == 1 and result[0] is marker)
    except Exception:  # The user's transform computes with the result, in whatever way.
        untouched = False
    if not untouched:
        raise Unsupported(
            f"{name}: a transform turns it into {len(tapes)} circuits or computes with their results, which one run"
            " cannot do; remove the transform"
        )
    tape: QuantumScript = tapes[0]
    return tape


def _deferred(tape: QuantumScript, lines: list[int | None]) -> QuantumScript:
    for operation, line in zip(tape.operations, lines, strict=True):
        if isinstance(operation, qml.ops.MidMeasure) and operation.postselect is not None:
            raise Unsupported(
                f"measure with postselect{on(list(operation.wires))} cannot be run: shots are not discarded", line
            )
    for measured in tape.measurements:
        # A list of measured values has no processing of its own; its members may.
        values = measured.mv if isinstance(measured.mv, list | tuple) else [measured.mv]
        if type(measured) in _BITS and any(value is not None and value.has_processing for value in values):
            raise Unsupported(
                f"{_BITS[type(measured)]} of computed measured values is not available; ask for the values"
            )
    return _one(qml.defer_measurements(tape), "defer_measurements")


def _with_wires(measured: Any, wires: list[Any]) -> Any:
    """Bits without specific wires are those of all wires, also once further wires were added."""
    if type(measured) in _BITS and measured.obs is None and measured.mv is None and not measured.wires:
        if measured.eigvals() is not None:
            return measured
        given = {"all_outcomes": True} if getattr(measured, "all_outcomes", False) else {}
        return type(measured)(wires=qml.wires.Wires(wires), **given)
    return measured


def _on_first_wires(operation: Operator) -> Operator | None:
    """The operation on the wires 0, 1, ... in the order of its own; None where the library cannot move it, as with
    arithmetic templates that have work wires."""
    try:
        local = operation.map_wires({wire: place for place, wire in enumerate(operation.wires)})
    except ValueError:
        return None
    return local if list(local.wires) == list(range(len(operation.wires))) else None


class _Writer:
    def __init__(self, wires: list[Any]) -> None:
        self.index = {wire: place for place, wire in enumerate(wires)}
        self.program = Program(len(wires))
        self.readout = Readout(lambda place: wires[place])
        self._pieces: dict[Any, _Piece] = {}
        self._controls: dict[Any, list[str] | None] = {}
        self._used: dict[str, int] = {}

    def operation(self, operation: Operator, warnings: list[str], depth: int) -> None:
        wires = list(operation.wires)
        places = [self.index[wire] for wire in wires if wire in self.index]
        name = str(operation.name)
        if len(places) < len(wires):
            unknown = [wire for wire in wires if wire not in self.index]
            raise Unsupported(f"{name} needs the further wire {unknown[0]}, which is not in the circuit")
        if isinstance(operation, Channel):
            raise Unsupported(f"{name}{on(wires)} is a noise channel (set noise in params.noise_model)")
        if name == "Snapshot":
            warnings.append("snapshots are not taken")
        elif name == "Barrier":
            if places:
                self.program.barrier(places)
        elif name == "GlobalPhase" or not wires:
            # A global phase does not affect any result.
            if name not in ("GlobalPhase", "Identity"):
                raise Unsupported(f"{name} cannot be written in OpenQASM 3")
        elif name == "Identity" or (isinstance(operation, qml.ops.Controlled) and operation.base.name == "Identity"):
            for place in places:
                self.program.gate(name, ["id {0};"], [place], np.eye(2, dtype=complex))
        else:
            self._unitary(operation, name, places, warnings, depth)

    def _unitary(self, operation: Operator, name: str, places: list[int], warnings: list[str], depth: int) -> None:
        wires = list(operation.wires)
        # A phase behind controls has no qubit of its own; the library turns it into a phase of one of the controls.
        whole = not isinstance(operation, qml.ops.Controlled) or len(operation.base.wires) > 0
        if whole and len(wires) > DECOMPOSED_QUBITS_MAX and self._controlled(operation, name):
            return
        piece = self._piece(operation, name) if whole and len(wires) <= PROVEN_QUBITS_MAX else None
        if piece is not None:
            statements, matrix, from_zero = piece
            self.program.gate(f"{name}{on(wires)}", statements, places, matrix, (), from_zero)
            return
        try:
            parts = operation.decomposition() if depth < _DEPTH_MAX else None
        except DecompositionUndefinedError:
            parts = None
        if parts is None:
            raise Unsupported(f"{name}{on(wires)} has no decomposition into the gates of OpenQASM 3")
        for part in parts:
            self.operation(part, warnings, depth + 1)

    def _controlled(self, operation: Operator, name: str) -> bool:
        """Writes a gate with many controls as such, if it can be."""
        base = getattr(operation, "base", None)
        if not isinstance(operation, qml.ops.Controlled) or not isinstance(base, Operator):
            return False
        if len(base.wires) > DECOMPOSED_QUBITS_MAX or not base.has_matrix:
            return False
        local = _on_first_wires(base)
        if local is None:
            return False
        matrix = np.asarray(local.matrix(wire_order=local.wires), dtype=complex)
        values = [int(value) for value in operation.control_values]
        key = (local.hash, matrix.tobytes(), *values)
        if key not in self._controls:
            self._controls[key] = controlled(self._exported(local, name, matrix, False), matrix, values)
        statements = self._controls[key]
        if statements is None:
            return False
        wires = [*operation.control_wires, *base.wires]
        places = [self.index[wire] for wire in wires]
        self.program.gate(f"{name}{on(wires)}", statements, places, matrix, controls=tuple(values))
        return True

    def _piece(self, operation: Operator, name: str) -> _Piece | None:
        """Statements and matrix; None for what has to be taken apart first."""
        local = _on_first_wires(operation)
        if local is None:
            return None
        # The library's own hash rounds parameters.
        key = (local.hash, *(np.asarray(value).tobytes() for value in local.data))
        if key not in self._pieces:
            order = local.wires
            from_zero = isinstance(local, StatePrepBase)
            if from_zero:
                matrix = np.asarray(local.state_vector(wire_order=order), dtype=complex).ravel()
            elif local.has_matrix:
                matrix = np.asarray(local.matrix(wire_order=order), dtype=complex)
                if matrix.shape[0] != 1 << len(order):
                    raise Unsupported(f"{name}{on(list(operation.wires))} does not act on qubits")
            else:
                return None
            self._pieces[key] = (self._exported(local, name, matrix, from_zero), matrix, from_zero)
        return self._pieces[key]

    def _exported(self, local: Operator, name: str, matrix: Matrix, from_zero: bool) -> list[str]:
        try:
            text = qml.to_openqasm(
                QuantumScript([local]),
                wires=qml.wires.Wires(range(len(local.wires))),
                rotations=False,
                measure_all=False,
            )
            statements = statements_of(text)
            if len(statements) == 1 or from_zero or faithful(statements, matrix):
                return statements
            return synthesised(name, list(local.wires), matrix)
        except (ValueError, TypeError, NotImplementedError, DecompositionUndefinedError):
            if from_zero:
                raise Unsupported(f"{name}{on(list(local.wires))} cannot be written in OpenQASM 3") from None
            return synthesised(name, list(local.wires), matrix)

    def measurement(self, measured: Any, warnings: list[str]) -> None:
        kind = _BITS.get(type(measured))
        if kind is not None:
            self._bits(measured, kind, warnings)
        elif type(measured) in (mp.ExpectationMP, mp.VarianceMP):
            short = "expval" if isinstance(measured, mp.ExpectationMP) else "var"
            if measured.obs is None:
                # A measurement in the middle: its value, as that of the qubit that stands for it, is (1 - Z) / 2.
                if measured.eigvals() is None or len(measured.wires) != 1:
                    raise Unsupported(f"{short} of measured values cannot be computed from counts")
                zero, one = (float(value) for value in np.real(measured.eigvals()))
                place = self.index[measured.wires[0]]
                terms: Terms = {(): (zero + one) / 2, ((place, "Z"),): (zero - one) / 2}
                self.readout.observable(f"{short}(measured wire {measured.wires[0]})", short, terms)
                return
            shown = str(measured.obs)
            self.readout.observable(shown, short, self._terms(shown, measured.obs))
        elif type(measured) is mp.StateMP:
            warnings.append("state: the counts of all wires are given; set extract_state_vector for amplitudes")
        else:
            name = type(measured).__name__.removesuffix("MP")
            raise Unsupported(f"the measurement {name} cannot be computed from counts")

    def _bits(self, measured: Any, kind: str, warnings: list[str]) -> None:
        places = [self.index[wire] for wire in measured.wires]
        name = f"{kind}{self._used[kind]}" if kind in self._used else kind
        self._used[kind] = self._used.get(kind, 0) + 1
        if measured.obs is not None:
            shown = f"{name}({measured.obs})"
            self.readout.basis_bits(shown, places, self._terms(shown, measured.obs))
            if kind != "probs":
                warnings.append(f"{shown}: the bits measured in the observable's basis are given, 0 for +1")
        elif measured.mv is not None and len(places) != (
            len(measured.mv) if isinstance(measured.mv, list | tuple) else 1
        ):
            raise Unsupported(f"{kind} of computed measured values is not available; ask for the measured values")
        else:
            self.readout.bits(name, places)

    def _terms(self, shown: str, observable: Any) -> Terms:
        """The observable as a sum of products of letters."""
        if observable.pauli_rep is not None:
            return {
                tuple(sorted((self.index[wire], letter) for wire, letter in word.items())): _real(shown, value)
                for word, value in observable.pauli_rep.items()
            }
        operands = list(getattr(observable, "operands", ()))
        if isinstance(observable, qml.ops.SProd):
            return weighted_sum([(_real(shown, observable.scalar), self._terms(shown, observable.base))])
        if isinstance(observable, qml.ops.LinearCombination):
            pairs = zip(observable.coeffs, observable.ops, strict=True)
            return weighted_sum([(_real(shown, weight), self._terms(shown, part)) for weight, part in pairs])
        if isinstance(observable, qml.ops.Sum):
            return weighted_sum([(1.0, self._terms(shown, part)) for part in operands])
        apart = len({wire for part in operands for wire in part.wires}) == sum(len(part.wires) for part in operands)
        if isinstance(observable, qml.ops.Prod) and apart:
            return product([self._terms(shown, part) for part in operands])
        if len(observable.wires) > PROVEN_QUBITS_MAX or not observable.has_matrix:
            raise Unsupported(f"{shown}{on(list(observable.wires))} has no matrix to be measured by")
        matrix = np.asarray(qml.matrix(observable, wire_order=observable.wires), dtype=complex)
        return self.readout.eigenbasis(shown, matrix, [self.index[wire] for wire in observable.wires])


def _real(shown: str, value: Any) -> float:
    number = complex(value)
    if abs(number.imag) > 1e-12:
        raise Unsupported(f"{shown} has the complex coefficient {number}; it is not an observable")
    return number.real
