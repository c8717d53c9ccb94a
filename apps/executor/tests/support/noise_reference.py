"""Density matrices of noisy circuits computed with numpy alone. Qubit 0 is the leftmost factor and the leftmost bit."""

from __future__ import annotations

import math
from functools import reduce

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.complex128]

X: Matrix = np.array([[0, 1], [1, 0]], dtype=complex)
H: Matrix = np.array([[1, 1], [1, -1]], dtype=np.complex128) * math.sqrt(0.5)
CX: Matrix = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], dtype=complex)


class Reference:
    """A density matrix that starts in |0...0>."""

    def __init__(self, num_qubits: int) -> None:
        self.num_qubits = num_qubits
        self.rho: Matrix = np.zeros((2**num_qubits, 2**num_qubits), dtype=complex)
        self.rho[0, 0] = 1

    def gate(self, matrix: Matrix, *qubits: int) -> Reference:
        """`matrix` acts on the qubits, the first as its most significant bit."""
        whole = self._on(matrix, qubits)
        self.rho = whole @ self.rho @ whole.conj().T
        return self

    def depolarize(self, parameter: float, *qubits: int) -> Reference:
        """rho -> (1-p) rho + p (I/d on the qubits, times what is left of the others)."""
        size = len(qubits)
        mixed = np.zeros_like(self.rho)
        for row in range(2**size):
            for column in range(2**size):
                jump = np.zeros((2**size, 2**size), dtype=complex)
                jump[row, column] = 1
                whole = self._on(jump, qubits)
                mixed += whole @ self.rho @ whole.conj().T / 2**size
        self.rho = (1 - parameter) * self.rho + parameter * mixed
        return self

    def relax(self, qubit: int, time_ns: float, t1_us: float = math.inf, t2_us: float | None = None) -> Reference:
        """The excited population falls by exp(-t/T1), the coherence by exp(-t/T2); T2 is 2 T1 if not given."""
        population = math.exp(-time_ns / 1000 / t1_us)
        coherence = math.exp(-time_ns / 1000 / (2 * t1_us if t2_us is None else t2_us))
        shift = self.num_qubits - 1 - qubit
        mask = 1 << shift
        result = np.zeros_like(self.rho)
        for row in range(len(self.rho)):
            for column in range(len(self.rho)):
                value = self.rho[row, column]
                if (row & mask) != (column & mask):
                    result[row, column] += coherence * value
                elif row & mask:
                    result[row, column] += population * value
                    result[row ^ mask, column ^ mask] += (1 - population) * value
                else:
                    result[row, column] += value
        self.rho = result
        return self

    def misread(self, qubit: int, p0_given1: float, p1_given0: float) -> Reference:
        """Reading errors as a classical channel on the diagonal; nothing but probabilities means anything afterwards."""
        flip = np.array([[1 - p1_given0, p0_given1], [p1_given0, 1 - p0_given1]])
        parts = [flip if index == qubit else np.eye(2) for index in range(self.num_qubits)]
        self.rho = np.diag(reduce(np.kron, parts) @ np.diag(self.rho))
        return self

    def probabilities(self) -> dict[str, float]:
        """By bit string, qubit 0 leftmost."""
        return {f"{index:0{self.num_qubits}b}": float(value.real) for index, value in enumerate(np.diag(self.rho))}

    def _on(self, matrix: Matrix, qubits: tuple[int, ...]) -> Matrix:
        whole = np.zeros_like(self.rho)
        shifts = [self.num_qubits - 1 - qubit for qubit in qubits]
        for column in range(len(whole)):
            inner = sum(((column >> shift) & 1) << (len(shifts) - 1 - i) for i, shift in enumerate(shifts))
            for outcome in range(len(matrix)):
                row = column
                for i, shift in enumerate(shifts):
                    bit = (outcome >> (len(shifts) - 1 - i)) & 1
                    row = (row & ~(1 << shift)) | (bit << shift)
                whole[row, column] += matrix[outcome, inner]
        return whole


def within(counts: dict[str, int], probabilities: dict[str, float], sigmas: float = 5) -> bool:
    """Whether every count lies within so many standard deviations, and nothing impossible was counted."""
    shots = sum(counts.values())
    for key in {*counts, *probabilities}:
        expected = probabilities.get(key, 0.0)
        spread = math.sqrt(max(expected * (1 - expected), 0) / shots)
        if abs(counts.get(key, 0) / shots - expected) > sigmas * spread + 1e-9:
            return False
    return True
