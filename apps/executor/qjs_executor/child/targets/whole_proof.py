"""Checks whether a routed circuit gives the same results as the circuit, computed as a whole, for circuits that use few
qubits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .matrices import TOLERANCE, Matrix, product
from .proof import Statement

WHOLE_QUBITS_MAX = 12
"""Qubits that the routed circuit may use: a state of 4096 amplitudes."""

_Lengths = np.ndarray[Any, np.dtype[np.float64]]


def whole_does(plain: Sequence[Statement], routed: Sequence[Statement], layout: Sequence[int]) -> bool:
    """Whether both give every bit string with the same probability. False for more qubits than can be computed, and for
    circuits that contain more than gates followed by measurements: their results are then unknown."""
    used = {layout[qubit] for qubit in _qubits(plain)} | _qubits(routed)
    if len(used) > WHOLE_QUBITS_MAX:
        return False
    place = {physical: index for index, physical in enumerate(sorted(used))}
    meant = _lengths(plain, {qubit: place[layout[qubit]] for qubit in _qubits(plain)}, len(place))
    given = _lengths(routed, place, len(place))
    if meant is None or given is None or meant[0] != given[0]:
        return False
    return bool(np.allclose(meant[1], given[1], rtol=0, atol=TOLERANCE))


def _qubits(found: Sequence[Statement]) -> set[int]:
    return {qubit for item in found if item.kind != "barrier" for qubit in item.qubits}


def _lengths(found: Sequence[Statement], place: Mapping[int, int], size: int) -> tuple[list[int], _Lengths] | None:
    """The cells that are measured into, and for each of their values the root of its probability, which unlike the
    probability itself shows a small error in full; None unless measurements come last."""
    parts: list[tuple[Matrix, list[int]]] = []
    cells: dict[int, int] = {}
    done: set[int] = set()
    for item in found:
        if item.kind == "barrier":
            continue
        places = [place[qubit] for qubit in item.qubits]
        if item.kind == "reset" or done.intersection(places) or item.cell in cells:
            return None
        if item.cell is not None:
            cells[item.cell] = places[0]
            done.update(places)
        elif item.matrix is not None:
            parts.append((item.matrix, places))
    state = product(parts, size, columns=1)
    kept = [cells[cell] for cell in sorted(cells)]
    rest = [index for index in range(size) if index not in kept]
    by_value = state.reshape((2,) * size).transpose([*kept, *rest]).reshape(1 << len(kept), -1)
    return sorted(cells), np.asarray(np.linalg.norm(by_value, axis=1))
