"""The gates of a matrix on two qubits. Qiskit's own synthesis leaves out an interaction weaker than 1e-4."""

from __future__ import annotations

from typing import Any

import numpy as np
from qiskit import QuantumCircuit
from qiskit.synthesis import TwoQubitWeylDecomposition

SAME = 1e-10
"""Distance of matrices, by element, below which gates do the matrix itself, and no interaction is left out."""


def whole_circuit(matrix: np.ndarray[Any, np.dtype[np.complex128]]) -> QuantumCircuit:
    """All of the unitary, its weakest interaction included. The first qubit is the least significant of the matrix."""
    circuit: QuantumCircuit = TwoQubitWeylDecomposition(matrix, fidelity=None).circuit(simplify=False)
    return circuit
