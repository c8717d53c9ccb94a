"""Writes OpenQASM 3 for the frameworks whose own writers round angles or forget which qubits were measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from .errors import unsupported


class Program:
    """A program over one register of qubits, statement by statement. Numbers are written so that they are read as the
    same doubles."""

    def __init__(self, num_qubits: int) -> None:
        self._lines = ["OPENQASM 3.0;", 'include "stdgates.inc";', f"qubit[{num_qubits}] q;"]
        self._registers: list[str] = []

    def gate(self, name: str, qubits: Iterable[int], params: Sequence[float] = ()) -> None:
        """A gate of stdgates.inc, or one that a line before has defined."""
        angles = f"({', '.join(number(one) for one in params)})" if params else ""
        operands = ", ".join(f"q[{qubit}]" for qubit in qubits)
        self._lines.append(f"{name}{angles}{' ' if operands else ''}{operands};")

    def register(self, size: int) -> str:
        """Declares classical bits; the name says only which of them they are."""
        name = f"m{len(self._registers)}"
        self._registers.append(name)
        self._lines.append(f"bit[{size}] {name};")
        return name

    def measure(self, qubit: int, register: str, bit: int) -> None:
        """Into a bit of a register."""
        self._lines.append(f"{register}[{bit}] = measure q[{qubit}];")

    def line(self, text: str) -> None:
        """A statement as it is."""
        self._lines.append(text)

    @property
    def text(self) -> str:
        """The program."""
        return "\n".join(self._lines) + "\n"


def number(value: float) -> str:
    """A double as it is read back. Raises Refused for one that is not finite."""
    if not math.isfinite(value):
        raise unsupported(f"an angle of {value} cannot be sent")
    return repr(float(value))
