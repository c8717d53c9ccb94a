"""Circuits in neutral words: what a row of the table says, before any framework says it.

A row lists steps as tuples: `("rx", 0.3, 0)` is a gate with its floats as parameters and its integers as qubits;
`("ctrl @ inv @ s", 0, 1)` has modifiers, outermost first, as OpenQASM 3 writes them; `("measure", 1, "c", 0)` measures
qubit 1 into bit 0 of register c; `("reset", 0)`; `("if", ("c", 2), then, otherwise)` compares a register (bit 0 least
significant) with a number, `("c", 0, 1)` one bit of it with a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = Sequence[tuple[Any, ...]]


@dataclass(frozen=True)
class Modifier:
    """`ctrl`, `negctrl`, `inv`, or `pow` with its exponent."""

    kind: str
    exponent: float = 1.0


@dataclass(frozen=True)
class Gate:
    """A named gate with its modifiers; controls come first among the qubits."""

    name: str
    qubits: tuple[int, ...]
    params: tuple[float, ...] = ()
    modifiers: tuple[Modifier, ...] = ()

    @property
    def controls(self) -> int:
        """How many of the qubits are controls of the modifiers."""
        return sum(modifier.kind in ("ctrl", "negctrl") for modifier in self.modifiers)


@dataclass(frozen=True)
class Measure:
    """One qubit into one bit of a register."""

    qubit: int
    register: str
    bit: int


@dataclass(frozen=True)
class Reset:
    """One qubit to 0."""

    qubit: int


@dataclass(frozen=True)
class Condition:
    """A register, or one bit of it, has a value."""

    register: str
    bit: int | None
    value: int


@dataclass(frozen=True)
class If:
    """Steps for the condition, and for its opposite."""

    condition: Condition
    then: tuple[Step, ...]
    otherwise: tuple[Step, ...] = ()


Step = Gate | Measure | Reset | If


@dataclass(frozen=True)
class Circuit:
    """`qubits` are the sizes of the quantum registers; classical registers have names and sizes, in order. Without any
    measurement all qubits are measured, qubit 0 leftmost."""

    steps: tuple[Step, ...]
    qubits: tuple[int, ...]
    registers: dict[str, int] = field(default_factory=dict)

    @property
    def width(self) -> int:
        """The number of qubits."""
        return sum(self.qubits)

    @property
    def is_unitary(self) -> bool:
        """Whether it consists of gates alone."""
        return all(isinstance(step, Gate) for step in self.steps)

    def final_measurements(self) -> int:
        """How many steps at the end are measurements that no later step could disturb: of distinct qubits and bits."""
        qubits: set[int] = set()
        bits: set[tuple[str, int]] = set()
        count = 0
        for step in reversed(self.steps):
            if not isinstance(step, Measure) or step.qubit in qubits or (step.register, step.bit) in bits:
                break
            qubits.add(step.qubit)
            bits.add((step.register, step.bit))
            count += 1
        return count


_MODIFIER = re.compile(r"(ctrl|negctrl|inv|pow)(?:\(([^)]*)\))?")


def circuit(row: Row, *, qubits: tuple[int, ...] | None = None, registers: dict[str, int] | None = None) -> Circuit:
    """The circuit of a row. Sizes that are not given are the smallest that fit."""
    steps = tuple(_step(words) for words in row)
    sizes: dict[str, int] = dict(registers or {})
    if registers is None:
        for measure in every(steps, Measure):
            sizes[measure.register] = max(sizes.get(measure.register, 0), measure.bit + 1)
    used = 1 + max(
        max(step.qubits, default=0) if isinstance(step, Gate) else step.qubit
        for kind in (Gate, Measure, Reset)
        for step in every(steps, kind)
    )
    return Circuit(steps, qubits or (used,), sizes)


def every(steps: Sequence[Step], kind: type[Any]) -> Iterator[Any]:
    """All steps of a kind, those inside conditions included."""
    for step in steps:
        if isinstance(step, kind):
            yield step
        if isinstance(step, If):
            yield from every(step.then, kind)
            yield from every(step.otherwise, kind)


def features(circuit: Circuit) -> frozenset[str]:
    """What a circuit requires of a reader or an engine: circuits with equal features take the same branches."""
    found = {type(step).__name__ for step in every(circuit.steps, object)}
    for gate in every(circuit.steps, Gate):
        found |= {modifier.kind for modifier in gate.modifiers}
        found |= {"parameters"} if gate.params else set()
    for step in every(circuit.steps, If):
        found.add("bit" if step.condition.bit is not None else "register")
        found |= {"else"} if step.otherwise else set()
    if len(circuit.registers) > 1:
        found.add("registers")
    if circuit.final_measurements() < sum(1 for _ in every(circuit.steps, Measure)):
        found.add("mid-circuit")
    return frozenset(found)


def scrambled(row: Row) -> list[tuple[Any, ...]]:
    """A row of gates between a head and a tail that turn every phase into a probability."""
    size = circuit(row).width
    head: list[tuple[Any, ...]] = [("ry", 0.4 + 0.3 * q, q) for q in range(size)]
    tail: list[tuple[Any, ...]] = [("rz", 0.9 - 0.2 * q, q) for q in range(size)]
    tail += [("rx", 0.5 + 0.3 * q, q) for q in range(size)]
    return [*head, *row, *tail]


def _step(words: tuple[Any, ...]) -> Step:
    match words:
        case ("measure", qubit, register, bit):
            return Measure(qubit, register, bit)
        case ("reset", qubit):
            return Reset(qubit)
        case ("if", (register, value), *blocks):
            condition = Condition(register, None, value)
        case ("if", (register, bit, value), *blocks):
            condition = Condition(register, bit, value)
        case (text, *rest):
            *before, name = text.split(" @ ")
            modifiers = []
            for part in before:
                found = _MODIFIER.fullmatch(part)
                assert found is not None, part
                modifiers.append(Modifier(found[1], float(found[2] or 1)))
            params = tuple(value for value in rest if isinstance(value, float))
            places = tuple(value for value in rest if isinstance(value, int))
            return Gate(name, places, params, tuple(modifiers))
    then, otherwise = (*blocks, ())[:2]
    return If(condition, tuple(map(_step, then)), tuple(map(_step, otherwise)))
