"""Proves that a finished program does what the circuit specifies. Exporters round numbers, drop what they do not know
and reverse orders, so the text itself is read back, by the provider's own reader where there is one, and compared with
the circuit step by step: unitaries as matrices, up to a global phase, and measurements by the bit that they measure
into.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit import Operation
from qiskit.quantum_info import Operator

from .expansion import definition_of
from .matrices import Matrix, equal_up_to_phase, flipped, product
from .steps import STEPS_MAX, Condition, Refused, Step

PROVEN_QUBITS_MAX = 6
"""Widest step whose matrix is compared; a wider one is taken apart into the steps of its definition first."""


@dataclass(frozen=True)
class Statement:
    """A statement of the finished program as its reader understands it. `key`: equal ones have equal matrices.
    `cell` is where a measurement goes, in the program's own count of classical bits."""

    kind: str
    qubits: tuple[int, ...]
    matrix: Matrix | None = None
    key: Hashable = None
    cell: int | None = None
    conditions: tuple[Condition, ...] = ()


def provable(steps: list[Step]) -> list[Step]:
    """The steps, with every gate that is too wide for its matrix taken apart."""
    result: list[Step] = []
    for step in steps:
        if step.kind == "gate" and len(step.qubits) > PROVEN_QUBITS_MAX:
            result += _parts(step, step, 0)
        else:
            result.append(step)
    return result


def _parts(step: Step, named: Step, depth: int) -> list[Step]:
    definition = definition_of(step.operation) if depth < 60 else None
    if definition is None:
        raise named.refused("has no decomposition; write it in gates of fewer qubits")
    place = dict(zip(definition.qubits, step.qubits, strict=True))
    parts: list[Step] = []
    for item in definition.data:
        if item.operation.name == "barrier" or not item.qubits:
            continue
        qubits = tuple(place[qubit] for qubit in item.qubits)
        part = Step("gate", named.name, item.operation, qubits, step.index, None, step.conditions)
        parts += _parts(part, named, depth + 1) if len(qubits) > PROVEN_QUBITS_MAX else [part]
        if len(parts) > STEPS_MAX:
            raise named.refused(f"is written out in more than {STEPS_MAX} gates")
    return parts


def prove(steps: Sequence[Step], counts: Sequence[int], found: Sequence[Statement], target: str) -> None:
    """Raises Refused for the first step that the program does not perform. `counts[i]` instructions were written for
    step i. Clbits and cells are to be in one count."""
    instructions = iter(found)
    proving = _Proving(target)
    for step, count in zip(steps, counts, strict=True):
        proving.step(step, count, instructions)
    if next(instructions, None) is not None:
        raise Refused(f"the program in the form of {target} does more than the circuit", None, "")


class _Proving:
    def __init__(self, target: str) -> None:
        self._target = target
        self._right: set[Any] = set()
        self._matrices: dict[Any, tuple[Matrix, Operation]] = {}

    def step(self, step: Step, count: int, instructions: Iterator[Statement]) -> None:
        found = [item for item in (next(instructions, None) for _ in range(count)) if item is not None]
        if len(found) != count or not self._does(step, found):
            raise step.refused(f"cannot be written in the form of {self._target} without changing what it does")

    def _does(self, step: Step, found: list[Statement]) -> bool:
        if any(item.conditions != step.conditions for item in found):
            return False
        if step.kind != "gate":
            one = [item for item in found if item.kind == step.kind]
            if step.kind == "barrier":
                return len(one) == len(found) and all(set(item.qubits) <= set(step.qubits) for item in one)
            return len(found) == len(one) == 1 and one[0].qubits == step.qubits and one[0].cell == step.clbit
        place = {qubit: index for index, qubit in enumerate(step.qubits)}
        if any(item.kind != "gate" or not set(item.qubits) <= set(place) for item in found):
            return False
        operation = step.operation
        meant, said = operation_key(operation), None
        if all(item.key is not None for item in found):
            said = tuple((item.key, *(place[qubit] for qubit in item.qubits)) for item in found)
            if (meant, said) in self._right:
                return True
        parts = [(item.matrix, [place[qubit] for qubit in item.qubits]) for item in found if item.matrix is not None]
        if len(parts) != len(found) or not equal_up_to_phase(
            product(parts, len(place)), self._matrix(operation, meant)
        ):
            return False
        if said is not None:
            self._right.add((meant, said))
        return True

    def _matrix(self, operation: Operation, key: Hashable) -> Matrix:
        if key not in self._matrices:
            # The operation is kept too: its id is unique only while it lives.
            self._matrices[key] = (matrix_of(operation), operation)
        return self._matrices[key][0]


def operation_key(operation: Operation) -> Hashable:
    """Equal for operations that do the same, as long as they live."""
    standard = getattr(operation, "_standard_gate", None)
    return (operation.name, *map(float, operation.params)) if standard is not None else id(operation)


def matrix_of(operation: Operation) -> Matrix:
    """The unitary of an operation as qiskit has it, the first qubit the most significant."""
    if hasattr(operation, "__array__"):
        return flipped(np.asarray(operation.to_matrix()))
    circuit = QuantumCircuit(operation.num_qubits)
    circuit.append(operation, circuit.qubits)
    return flipped(np.asarray(Operator(circuit).data))
