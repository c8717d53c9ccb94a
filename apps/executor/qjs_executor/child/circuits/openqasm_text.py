"""What the readers of OpenQASM 2 and 3 share: the limit of classical bits and the texts of their refusals."""

from __future__ import annotations

import re

CLBITS_MAX = 4096
"""Classical bits that a program may declare; far more than counts can show."""


_PLACE = re.compile(r"^(?:<input>:)?(\d+),\d+:\s*")


def too_many_qubits(num_qubits: int, backend: str, max_qubits: int) -> str:
    """The message for a circuit that is wider than its backend."""
    return f"circuit needs {num_qubits} qubits, {backend} has {max_qubits}"


def placed(message: str) -> tuple[str, int | None]:
    """A parser's message without its leading position, and the line that it named."""
    found = _PLACE.match(message)
    return (message[found.end() :], int(found[1])) if found else (message, None)
