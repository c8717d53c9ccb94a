"""Writes operations out in the gates that a target has."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from qiskit import QuantumCircuit, transpile
from qiskit.circuit import Operation
from qiskit.exceptions import QiskitError

from ..circuits.gate_names import is_standard
from .steps import Step

_HALF = math.pi / 2
CALLS_MAX = 20_000
"""Gates that one operation is written out in; the proof multiplies their matrices, some thousands a second."""


@dataclass(frozen=True)
class Call:
    """A gate by its standard name, on places of the operation that it belongs to."""

    name: str
    params: tuple[float, ...]
    places: tuple[int, ...]


def _rotations(name: str, params: tuple[float, ...]) -> list[Call] | None:
    """A one-qubit gate as rotations, up to a phase; None when it cannot be written so. Only for targets that lack the
    gate."""
    match name, params:
        case ("id", ()):
            return []
        case ("u" | "u3" | "U", (theta, phi, lam)):
            return [Call("rz", (lam,), (0,)), Call("ry", (theta,), (0,)), Call("rz", (phi,), (0,))]
        case ("u2", (phi, lam)):
            return [Call("rz", (lam,), (0,)), Call("ry", (_HALF,), (0,)), Call("rz", (phi,), (0,))]
        case ("p" | "u1", (angle,)):
            return [Call("rz", (angle,), (0,))]
        case ("s", ()):
            return [Call("rz", (_HALF,), (0,))]
        case ("sdg", ()):
            return [Call("rz", (-_HALF,), (0,))]
        case ("t", ()):
            return [Call("rz", (_HALF / 2,), (0,))]
        case ("tdg", ()):
            return [Call("rz", (-_HALF / 2,), (0,))]
        case ("x" | "sx" | "sxdg" as root, ()):
            return [Call("rx", ({"x": math.pi, "sx": _HALF, "sxdg": -_HALF}[root],), (0,))]
        case ("y", ()):
            return [Call("ry", (math.pi,), (0,))]
        case ("z", ()):
            return [Call("rz", (math.pi,), (0,))]
        case ("h", ()):
            return [Call("ry", (_HALF,), (0,)), Call("rx", (math.pi,), (0,))]
    return None


class Expansion:
    """Writes operations in some standard gates. Equal operations are written out once."""

    def __init__(self, gates: Collection[str], target: str) -> None:
        self._gates = gates
        self._target = target
        self._known: dict[Any, tuple[tuple[Call, ...], Any]] = {}

    def calls(self, step: Step) -> tuple[Call, ...]:
        """The gates for a step of kind gate. Raises Refused when there are none."""
        try:
            return self._calls(step.operation, step, 0)
        except RecursionError:
            raise step.refused("is defined too deeply") from None

    def _calls(self, operation: Operation, step: Step, depth: int) -> tuple[Call, ...]:
        standard = is_standard(operation)
        params = _numbers(operation, step) if standard else ()
        if standard and operation.name in self._gates:
            return (Call(operation.name, params, tuple(range(operation.num_qubits))),)
        # Calls of a gate that a program defines share their definition, so nested ones do not multiply.
        shared = None if standard else getattr(operation, "definition", None)
        whose = operation if shared is None else shared
        key: Any = (operation.name, params) if standard and _is_plain(operation) else id(whose)
        if key not in self._known:
            # What the id belongs to is kept too: an id is unique only while its owner lives.
            self._known[key] = (self._written_out(operation, params, step, depth), whose)
        return self._known[key][0]

    def _written_out(self, operation: Operation, params: tuple[float, ...], step: Step, depth: int) -> tuple[Call, ...]:
        rotations = _rotations(operation.name, params) if is_standard(operation) else None
        if rotations is not None and all(call.name in self._gates for call in rotations):
            # The decomposition leaves out a rotation by exactly zero.
            return tuple(call for call in rotations if call.params != (0.0,))
        definition = definition_of(operation)
        if definition is None or depth > 60:
            raise step.refused(f"cannot be written in the gates of {self._target}")
        place = {qubit: index for index, qubit in enumerate(definition.qubits)}
        calls: list[Call] = []
        for item in definition.data:
            if item.operation.name == "barrier":
                continue
            if item.clbits or not item.operation.num_qubits:
                if item.clbits:
                    raise step.refused("contains more than gates, which a definition must not")
                continue
            outer = [place[qubit] for qubit in item.qubits]
            for call in self._calls(item.operation, step, depth + 1):
                calls.append(Call(call.name, call.params, tuple(outer[inner] for inner in call.places)))
            if len(calls) > CALLS_MAX:
                raise step.refused(f"is written out in more than {CALLS_MAX} gates; use several smaller ones")
        return tuple(calls)


def definition_of(operation: Operation) -> QuantumCircuit | None:
    """The operations of which an operation consists; those of a modified one (controlled, inverted, a power) come from
    qiskit's synthesis."""
    definition = getattr(operation, "definition", None)
    if definition is not None and not (definition.num_qubits and _is_itself(definition, operation)):
        return definition
    circuit = QuantumCircuit(operation.num_qubits)
    circuit.append(operation, circuit.qubits)
    try:
        written: QuantumCircuit = transpile(circuit, basis_gates=["u", "cx"], optimization_level=0, seed_transpiler=0)
    except QiskitError:
        return None
    return None if _is_itself(written, operation) else written


def _is_itself(definition: QuantumCircuit, operation: Operation) -> bool:
    return len(definition.data) == 1 and definition.data[0].operation.name == operation.name


def _is_plain(operation: Operation) -> bool:
    """Whether name and numbers fully describe a standard operation."""
    return bool(getattr(operation, "_standard_gate", None) is not None)


def _numbers(operation: Operation, step: Step) -> tuple[float, ...]:
    """The parameters of a standard gate; other operations, such as a matrix, have none that are numbers."""
    numbers = []
    for value in getattr(operation, "params", ()):
        try:
            number = float(value)
        except (TypeError, ValueError):
            return ()
        if not math.isfinite(number):
            raise step.refused(f"has the angle {number}, which is not a finite number")
        numbers.append(number)
    return tuple(numbers)


def number_text(value: float) -> str:
    """A number with all its digits, and with the decimal point that OpenQASM 2 requires before an exponent."""
    text = repr(float(value))
    if "e" in text and "." not in text:
        return text.replace("e", ".0e")
    return text
