"""Small unitary matrices. In a matrix of several qubits the first one is the most significant."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

Matrix = np.ndarray[Any, np.dtype[np.complex128]]

TOLERANCE = 1e-9
"""Per matrix element: a hundred thousand times what double precision loses in a decomposition, and far below what a
dropped digit of an angle or any number of shots can show."""

SWAP: Matrix = np.eye(4, dtype=complex)[[0, 2, 1, 3]]
X: Matrix = np.array([[0, 1], [1, 0]], dtype=complex)
Y: Matrix = np.array([[0, -1j], [1j, 0]], dtype=complex)
Z: Matrix = np.array([[1, 0], [0, -1]], dtype=complex)
HADAMARD: Matrix = (X + Z) / math.sqrt(2)


def flipped(matrix: Matrix) -> Matrix:
    """The matrix with the order of its qubits reversed, as between qiskit's convention and this one."""
    size = _qubits_of(matrix)
    order = [*reversed(range(size)), *(size + place for place in reversed(range(size)))]
    return np.asarray(matrix).reshape((2,) * (2 * size)).transpose(order).reshape(matrix.shape)


def controlled(matrix: Matrix, controls: int) -> Matrix:
    """The matrix under control qubits, which come first."""
    whole: Matrix = np.asarray(np.eye(matrix.shape[0] << controls), dtype=np.complex128)
    whole[-matrix.shape[0] :, -matrix.shape[0] :] = matrix
    return whole


def phase(angle: float) -> Matrix:
    """diag(1, exp(i angle))."""
    return np.array([[1, 0], [0, np.exp(1j * angle)]], dtype=complex)


def rotation(generator: Matrix, angle: float) -> Matrix:
    """exp(-i angle/2 G) for a G that is its own inverse."""
    identity = np.eye(len(generator))
    return np.asarray(math.cos(angle / 2) * identity - 1j * math.sin(angle / 2) * generator, dtype=np.complex128)


def product(parts: Iterable[tuple[Matrix, Sequence[int]]], size: int, columns: int | None = None) -> Matrix:
    """The product of matrices on places of `size` qubits, applied one after the other; or only its first columns."""
    columns = 1 << size if columns is None else columns
    whole: Matrix = np.asarray(np.eye(1 << size, columns), dtype=np.complex128)
    for matrix, places in parts:
        if list(places) == list(range(size)):
            whole = matrix @ whole
            continue
        count = len(places)
        tensor = whole.reshape((2,) * size + (columns,))
        gate = np.asarray(matrix).reshape((2,) * (2 * count))
        moved = np.tensordot(gate, tensor, axes=(list(range(count, 2 * count)), list(places)))
        whole = np.asarray(np.moveaxis(moved, list(range(count)), list(places)).reshape(1 << size, columns))
    return whole


def tensor(first: Matrix, second: Matrix) -> Matrix:
    """One matrix on a first qubit and one on a second; as np.kron, but without its overhead."""
    return np.multiply.outer(first, second).transpose(0, 2, 1, 3).reshape(4, 4)


def equal_up_to_phase(left: Matrix, right: Matrix) -> bool:
    """Whether two unitaries differ in nothing that a measurement can show."""
    if left.shape != right.shape:
        return False
    overlap = np.vdot(right, left)
    if abs(overlap) < 0.5:
        return False
    return bool(np.abs(left - right * (overlap / abs(overlap))).max() <= TOLERANCE)


def tensor_factors(matrix: Matrix) -> tuple[Matrix, Matrix] | None:
    """A two-qubit unitary as one of the first qubit times one of the second; None when it entangles them."""
    # As a matrix from second to first qubit a product has rank one: a column times a row.
    rearranged = matrix.reshape(2, 2, 2, 2).transpose(0, 2, 1, 3).reshape(4, 4)
    largest = int(np.abs(rearranged).argmax())
    column, row = rearranged[:, largest % 4], rearranged[largest // 4]
    pivot = rearranged[largest // 4, largest % 4]
    if np.abs(rearranged - np.multiply.outer(column, row) / pivot).max() > TOLERANCE:
        return None
    # Scaled to be unitary: two columns of length one.
    scale = math.sqrt(2) / np.linalg.norm(column)
    return (column * scale).reshape(2, 2), (row / (pivot * scale)).reshape(2, 2)


def _qubits_of(matrix: Matrix) -> int:
    return int(matrix.shape[0]).bit_length() - 1
