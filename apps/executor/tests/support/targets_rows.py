"""Circuits in neutral words, for the targets: an operation is its name, its angles and its qubits."""

from __future__ import annotations

from typing import Any

import numpy as np

Row = list[tuple[Any, ...]]

ROWS: dict[str, Row] = {
    "bell": [("h", 0), ("cx", 0, 1)],
    "bell reversed": [("h", 1), ("cx", 1, 0)],
    "ghz": [("h", 0), ("cx", 0, 1), ("cx", 1, 2)],
    "x on the last": [("id", 0), ("id", 1), ("x", 2)],
    "last before first": [("x", 2), ("h", 1), ("cx", 1, 0)],
    "w": [("ry", 1.9106332362490186, 0), ("crx", 1.2, 0, 1), ("cx", 1, 2), ("x", 0)],
    "paulis": [("h", 0), ("y", 0), ("z", 1), ("x", 2), ("y", 2)],
    "phases": [("h", 0), ("s", 0), ("h", 0), ("h", 1), ("t", 1), ("h", 1)],
    "inverse phases": [("h", 0), ("sdg", 0), ("h", 1), ("tdg", 1), ("h", 1)],
    "roots of x": [("sx", 0), ("sx", 1), ("sxdg", 1), ("sxdg", 2), ("t", 0), ("sx", 0)],
    "exact rx": [("rx", 0.1234567890123456, 0), ("rx", 2.9876543210987654, 1)],
    "exact ry": [("ry", 0.1234567890123456, 0), ("ry", -7.000000000000001, 1)],
    "exact rz": [("h", 0), ("rz", 0.7071067811865476, 0), ("h", 0), ("id", 1)],
    "tiny angle": [("rx", 1e-5, 0), ("ry", 3e-4, 1), ("rz", 1e-12, 0)],
    "large angle": [("rx", 1234.5678, 0), ("h", 1), ("p", -321.123, 1), ("h", 1)],
    "negative angle": [("ry", -0.3, 0), ("rx", -1.7, 1)],
    "phase shift": [("h", 0), ("p", 0.4, 0), ("h", 0), ("ry", 0.2, 1)],
    "controlled phase": [("h", 0), ("h", 1), ("cp", 0.77, 0, 1), ("h", 0), ("h", 1)],
    "controlled rx": [("h", 2), ("crx", 0.9, 2, 0), ("id", 1)],
    "controlled rz": [("h", 0), ("h", 1), ("crz", 0.9, 1, 0), ("h", 0)],
    "cy": [("h", 0), ("cy", 0, 1), ("h", 1)],
    "cz": [("h", 0), ("ry", 0.3, 1), ("cz", 1, 0), ("h", 0)],
    "swap": [("ry", 0.3, 0), ("swap", 0, 1)],
    "iswap": [("ry", 0.3, 0), ("h", 1), ("iswap", 0, 1), ("h", 0)],
    "toffoli": [("h", 0), ("h", 2), ("ccx", 2, 0, 1)],
    "fredkin": [("h", 1), ("ry", 0.5, 0), ("cswap", 1, 2, 0)],
    "zz": [("h", 0), ("h", 1), ("rzz", 0.6, 0, 1), ("h", 0), ("h", 1)],
    "xx": [("ry", 0.2, 0), ("rxx", 0.6, 0, 1)],
    "yy": [("ry", 0.2, 0), ("ryy", 0.6, 1, 0)],
    "ccz": [("h", 0), ("h", 1), ("h", 2), ("ccz", 0, 1, 2), ("h", 2)],
    "control on zero": [("ry", 0.4, 0), ("c0x", 0, 1)],
    "teleport gates": [("ry", 1.1, 0), ("h", 1), ("cx", 1, 2), ("cx", 0, 1), ("h", 0), ("cx", 1, 2), ("cz", 0, 2)],
    "grover": [("h", 0), ("h", 1), ("cz", 0, 1), ("h", 0), ("h", 1), ("x", 0), ("x", 1), ("cz", 0, 1), ("x", 0), ("x", 1), ("h", 0), ("h", 1)],
    "deutsch": [("x", 1), ("h", 0), ("h", 1), ("cx", 0, 1), ("h", 0)],
    "bernstein": [("x", 3), ("h", 0), ("h", 1), ("h", 2), ("h", 3), ("cx", 0, 3), ("cx", 2, 3), ("h", 0), ("h", 1), ("h", 2)],
    "fourier": [("x", 0), ("h", 0), ("cp", np.pi / 2, 1, 0), ("cp", np.pi / 4, 2, 0), ("h", 1), ("cp", np.pi / 2, 2, 1), ("h", 2), ("swap", 0, 2)],
    "ansatz": [("ry", 0.1, 0), ("ry", 0.2, 1), ("ry", 0.3, 2), ("cx", 0, 1), ("cx", 1, 2), ("ry", 0.4, 0), ("ry", 0.5, 1), ("ry", 0.6, 2)],
    "trotter": [(g, 0.3, a, a + 1) for g in ("rxx", "ryy", "rzz") for a in (0, 1)] + [("rx", 0.2, 1)],
    "five qubits": [("h", 0), ("cx", 0, 4), ("ry", 0.7, 2), ("cx", 2, 1), ("cx", 4, 3), ("rx", 0.3, 3)],
    "undone": [("h", 0), ("t", 0), ("cx", 0, 1), ("cx", 0, 1), ("tdg", 0), ("h", 0)],
    "adder": [("x", 0), ("h", 1), ("ccx", 0, 1, 3), ("cx", 0, 1), ("ccx", 1, 2, 3), ("cx", 1, 2)],
    "one qubit": [("h", 0), ("rz", 0.3, 0), ("rx", 0.4, 0)],
    "phases between": [("h", 0), ("h", 1), ("z", 0), ("s", 1), ("cz", 0, 1), ("sx", 0), ("sx", 1)],
}  # fmt: skip


def width(row: Row) -> int:
    return 1 + max(place for op in row for place in op[1:] if isinstance(place, int))


def scrambled(row: Row) -> Row:
    """The row with a tail that turns every phase into a probability."""
    size = width(row)
    tail: Row = [("ry", 0.3 + 0.2 * q, q) for q in range(size)] + [("rx", 0.5 + 0.1 * q, q) for q in range(size)]
    return row + tail + [("cx", q, q + 1) for q in range(size - 1)]


def split(op: tuple[Any, ...]) -> tuple[str, list[float], list[int]]:
    return op[0], [v for v in op[1:] if isinstance(v, float)], [v for v in op[1:] if isinstance(v, int)]
