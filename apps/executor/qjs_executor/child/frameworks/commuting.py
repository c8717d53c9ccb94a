"""Measures commuting products of Pauli matrices together, even if they differ on single qubits.

Qiskit's synthesis finds a Clifford circuit that turns each into a product of Z with a sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from qiskit import QuantumCircuit
from qiskit.quantum_info import Operator, Pauli, PauliList
from qiskit.synthesis import synth_circuit_from_stabilizers

from .program import Program, written

Letters = tuple[tuple[int, str], ...]
"""A product: (qubit, letter), sorted by qubit."""

_GATES = ("id", "x", "y", "z", "h", "s", "sdg", "cx", "cz", "swap")


def clusters(words: Iterable[Letters]) -> list[set[int]]:
    """The qubits of some products, in groups that no product joins."""
    groups: list[set[int]] = []
    for word in words:
        joined = {qubit for qubit, _ in word}
        apart = [group for group in groups if not group & joined]
        for group in groups:
            joined |= group if group & joined else set()
        groups = [*apart, joined] if joined else groups
    return groups


def diagonalised(program: Program, words: Sequence[Letters]) -> dict[Letters, tuple[Letters, int]] | None:
    """Appends the circuit and returns, for each product, the product of Z and the sign that it has become. Returns None
    and appends nothing when two of them do not commute or letters other than X, Y and Z occur."""
    qubits = sorted({qubit for word in words for qubit, _ in word})
    if any(letter not in "XYZ" for word in words for _, letter in word):
        return None
    paulis = [_pauli(word, qubits) for word in words]
    listed = PauliList(paulis)
    if not all(bool(np.all(listed.commutes(pauli))) for pauli in paulis):
        return None
    labels = [pauli.to_label() for pauli in _independent(paulis)]
    # The circuit prepares, from zeros, the state that every product leaves alone: its inverse is what is measured by.
    change = synth_circuit_from_stabilizers(labels, allow_underconstrained=True).inverse()
    replaced: dict[Letters, tuple[Letters, int]] = {}
    for word, pauli in zip(words, paulis, strict=True):
        turned = pauli.evolve(change, frame="s")
        if turned.x.any() or turned.phase not in (0, 2):
            return None
        letters = tuple((qubit, "Z") for place, qubit in enumerate(qubits) if turned.z[place])
        replaced[word] = (letters, -1 if turned.phase else 1)
    for item in change.data:
        places = [qubits[change.find_bit(qubit).index] for qubit in item.qubits]
        matrix = np.asarray(Operator(item.operation).reverse_qargs().data)
        alone = QuantumCircuit(len(places))
        alone.append(item.operation, range(len(places)))
        program.gate("basis change of the observables", written(alone, _GATES), places, matrix)
    return replaced


def _pauli(word: Letters, qubits: Sequence[int]) -> Pauli:
    letters = dict(word)
    # Qiskit writes its last qubit first.
    return Pauli("".join(letters.get(qubit, "I") for qubit in reversed(qubits)))


def _independent(paulis: Sequence[Pauli]) -> list[Pauli]:
    """Independent products: none of them is, up to sign, a product of others."""
    chosen: list[Pauli] = []
    pivots: dict[int, int] = {}
    for pauli in paulis:
        row = sum(int(bit) << place for place, bit in enumerate([*pauli.x, *pauli.z]))
        while row and (top := row.bit_length()) in pivots:
            row ^= pivots[top]
        if row:
            pivots[row.bit_length()] = row
            chosen.append(pauli)
    return chosen
