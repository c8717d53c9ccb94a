"""Describes a framework's circuit that was written in OpenQASM 3."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Observable:
    """An expectation value or variance to be computed from the counts. Each term is a coefficient and the places in the
    bit string whose parity (+1 even, -1 odd) it multiplies; `constant` is the term without a place."""

    name: str
    kind: Literal["expval", "var"]
    constant: float
    terms: list[tuple[float, list[int]]]


@dataclass(frozen=True)
class AdaptedCircuit:
    """`openqasm3` has one register `q`, its indices in the framework's order of qubits, and one `bit[n]` register per
    measured register, declared in the order of the counts; without a measurement, all qubits are measured.
    `register_names` are the names to show for registers whose name is not a valid OpenQASM identifier."""

    openqasm3: str
    register_names: list[str] | None = None
    observables: list[Observable] | None = None
    warnings: list[str] = field(default_factory=list)
    turned: bool = False
    """The circuit ends with a change of basis, which belongs to what its framework measures."""
