"""Circuits that do a whole matrix. Qiskit's own synthesis leaves out what it takes for rounding: of two qubits an
interaction weaker than 1e-4, of more qubits a part of a rotation by 1e-5 with two controls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from qiskit import QuantumCircuit
from qiskit.quantum_info import Operator
from qiskit.synthesis import TwoQubitWeylDecomposition, qs_decomposition

Matrix = np.ndarray[Any, np.dtype[np.complex128]]

SAME = 1e-10
"""Distance of matrices, by element, below which gates do the matrix itself, and no interaction is left out."""

WHOLE_QUBITS_MAX = 6
"""Wider matrices take seconds to compare."""


def further_syntheses(matrix: Matrix) -> Iterator[QuantumCircuit]:
    """Circuits of a unitary where qiskit's usual one is not exact. Each has its own weakness: compare what it does. The
    first qubit is the least significant of the matrix."""
    size = int(matrix.shape[0]).bit_length() - 1
    if size == 2:
        yield TwoQubitWeylDecomposition(matrix, fidelity=None).circuit(simplify=False)
    if size > 2:
        # With the order of its qubits reversed, something else is taken for rounding.
        turned = np.asarray(Operator(matrix).reverse_qargs().data)
        circuit = QuantumCircuit(size)
        circuit.compose(qs_decomposition(turned), list(reversed(range(size))), inplace=True)
        yield circuit


def does(circuit: QuantumCircuit, matrix: Matrix) -> bool:
    """Whether a circuit does exactly what a matrix says, up to a global phase."""
    found = np.asarray(Operator(circuit).data)
    overlap = np.vdot(matrix, found)
    if abs(overlap) < SAME:
        return False
    return bool(np.allclose(found, matrix * (overlap / abs(overlap)), rtol=0, atol=SAME))
