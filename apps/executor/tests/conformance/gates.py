"""Matrices of the standard gates, written down with numpy alone; the first qubit is the most significant."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .circuit import Gate

Matrix = NDArray[np.complex128]


def matrix_of(gate: Gate) -> Matrix:
    """A gate with its modifiers: controls first, then the gate's own qubits."""
    matrix = MATRICES[gate.name](*gate.params)
    for modifier in reversed(gate.modifiers):
        match modifier.kind:
            case "ctrl":
                matrix = controlled(matrix)
            case "negctrl":
                matrix = controlled(matrix, 0)
            case "inv":
                matrix = matrix.conj().T
            case "pow":
                matrix = power(matrix, modifier.exponent)
    assert matrix.shape == (1 << len(gate.qubits),) * 2, f"{gate.name} does not take {len(gate.qubits)} qubits"
    return matrix


def controlled(matrix: Matrix, value: int = 1) -> Matrix:
    """The matrix where a new first qubit has the value, nothing elsewhere."""
    size = len(matrix)
    full: Matrix = np.eye(2 * size, dtype=complex)
    full[value * size : (value + 1) * size, value * size : (value + 1) * size] = matrix
    return full


def power(matrix: Matrix, exponent: float) -> Matrix:
    """The principal power: eigenvalues e^(ia) with -pi < a <= pi become e^(iap)."""
    if float(exponent).is_integer():
        return np.linalg.matrix_power(matrix, int(exponent))
    # Normal matrices have orthogonal eigenvectors; equal eigenvalues need them made so.
    values, vectors = np.linalg.eig(matrix)
    angles = np.angle(values)
    angles[angles < -math.pi + 1e-9] = math.pi
    order = np.argsort(angles)
    vectors, _ = np.linalg.qr(vectors[:, order])
    raised: Matrix = vectors @ np.diag(np.exp(1j * angles[order] * exponent)) @ vectors.conj().T
    return raised


def _u(theta: float, phi: float, lam: float) -> Matrix:
    cosine, sine = math.cos(theta / 2), math.sin(theta / 2)
    return np.array(
        [
            [cosine, -np.exp(1j * lam) * sine],
            [np.exp(1j * phi) * sine, np.exp(1j * (phi + lam)) * cosine],
        ]
    )


def _fixed(*rows: list[complex]) -> Callable[[], Matrix]:
    matrix: Matrix = np.array(rows, dtype=complex)
    return lambda: matrix


def _p(angle: float) -> Matrix:
    return np.diag([1, np.exp(1j * angle)])


def _rotation(pauli: Matrix, angle: float) -> Matrix:
    rotated: Matrix = math.cos(angle / 2) * np.eye(len(pauli)) - 1j * math.sin(angle / 2) * pauli
    return rotated


def _permutation(*images: int) -> Callable[[], Matrix]:
    """|k> becomes |images[k]>."""
    matrix: Matrix = np.zeros((len(images),) * 2, dtype=complex)
    for k, image in enumerate(images):
        matrix[image, k] = 1
    return lambda: matrix


def _xx_yy(theta: float, beta: float, corner: bool) -> Matrix:
    """Turns |01> and |10> (`corner`: |00> and |11>) into each other by theta, with the phase beta."""
    low, high = (0, 3) if corner else (1, 2)
    phase = np.exp(1j * beta if corner else -1j * beta)
    matrix: Matrix = np.eye(4, dtype=complex)
    matrix[low, low] = matrix[high, high] = math.cos(theta / 2)
    matrix[high, low] = -1j * math.sin(theta / 2) * phase
    matrix[low, high] = -1j * math.sin(theta / 2) * phase.conjugate()
    return matrix


_X, _Y, _Z = np.array([[0, 1], [1, 0]]), np.array([[0, -1j], [1j, 0]]), np.diag([1, -1])
_H = np.array([[1, 1], [1, -1]]) / math.sqrt(2)
_SX: Matrix = np.array([[1 + 1j, 1 - 1j], [1 - 1j, 1 + 1j]], dtype=np.complex128) * 0.5
_ISWAP = [[1, 0, 0, 0], [0, 0, 1j, 0], [0, 1j, 0, 0], [0, 0, 0, 1]]


def _relative(size: int, block: Matrix, signs: dict[int, complex]) -> Matrix:
    """A permutation-like gate that acts on its last basis states, with phases elsewhere."""
    matrix: Matrix = np.eye(size, dtype=complex)
    for place, sign in signs.items():
        matrix[place, place] = sign
    matrix[size - len(block) :, size - len(block) :] = block
    return matrix


MATRICES: dict[str, Callable[..., Matrix]] = {
    "id": lambda: np.eye(2, dtype=complex),
    "x": lambda: _X.astype(complex),
    "y": lambda: _Y,
    "z": lambda: _Z.astype(complex),
    "h": lambda: _H.astype(complex),
    "s": lambda: _p(math.pi / 2),
    "sdg": lambda: _p(-math.pi / 2),
    "t": lambda: _p(math.pi / 4),
    "tdg": lambda: _p(-math.pi / 4),
    "sx": lambda: _SX,
    "sxdg": lambda: _SX.conj().T,
    "p": _p,
    "phase": _p,
    "u1": _p,
    "rx": lambda angle: _rotation(_X, angle),
    "ry": lambda angle: _rotation(_Y, angle),
    "rz": lambda angle: _rotation(_Z, angle),
    "u2": lambda phi, lam: _u(math.pi / 2, phi, lam),
    "u3": _u,
    "U": _u,
    "gphase": lambda angle: np.array([[np.exp(1j * angle)]]),
    "cx": lambda: controlled(_X.astype(complex)),
    "CX": lambda: controlled(_X.astype(complex)),
    "cy": lambda: controlled(_Y),
    "cz": lambda: controlled(_Z.astype(complex)),
    "ch": lambda: controlled(_H.astype(complex)),
    "cs": lambda: controlled(_p(math.pi / 2)),
    "csdg": lambda: controlled(_p(-math.pi / 2)),
    "csx": lambda: controlled(_SX),
    "cp": lambda angle: controlled(_p(angle)),
    "cphase": lambda angle: controlled(_p(angle)),
    "cu1": lambda angle: controlled(_p(angle)),
    "crx": lambda angle: controlled(_rotation(_X, angle)),
    "cry": lambda angle: controlled(_rotation(_Y, angle)),
    "crz": lambda angle: controlled(_rotation(_Z, angle)),
    "cu": lambda theta, phi, lam, gamma: controlled(np.exp(1j * gamma) * _u(theta, phi, lam)),
    "cu3": lambda theta, phi, lam: controlled(_u(theta, phi, lam)),
    "swap": _permutation(0, 2, 1, 3),
    "dcx": _permutation(0, 3, 1, 2),
    "iswap": lambda: np.array(_ISWAP, dtype=complex),
    "ecr": lambda: (
        np.array([[0, 0, 1, 1j], [0, 0, 1j, 1], [1, -1j, 0, 0], [-1j, 1, 0, 0]], dtype=np.complex128) * math.sqrt(0.5)
    ),
    "rxx": lambda angle: _rotation(np.kron(_X, _X), angle),
    "ryy": lambda angle: _rotation(np.kron(_Y, _Y), angle),
    "rzz": lambda angle: _rotation(np.kron(_Z, _Z), angle),
    "rzx": lambda angle: _rotation(np.kron(_Z, _X), angle),
    "xx_plus_yy": lambda theta, beta: _xx_yy(theta, beta, corner=False),
    "xx_minus_yy": lambda theta, beta: _xx_yy(theta, beta, corner=True),
    "ccx": lambda: controlled(controlled(_X.astype(complex))),
    "ccz": lambda: controlled(controlled(_Z.astype(complex))),
    "cswap": lambda: controlled(_permutation(0, 2, 1, 3)()),
    "c3x": lambda: controlled(controlled(controlled(_X.astype(complex)))),
    "c3sqrtx": lambda: controlled(controlled(controlled(_SX))),
    "c4x": lambda: controlled(controlled(controlled(controlled(_X.astype(complex))))),
    "rccx": lambda: _relative(8, np.array([[0, -1j], [1j, 0]]), {5: -1}),
    "rc3x": lambda: _relative(16, np.array([[0, 1], [-1, 0]], dtype=complex), {12: 1j, 13: -1j}),
}
"""By name. The phases of u2, u3 and U are qiskit's; they show only under control or in a fractional power."""
