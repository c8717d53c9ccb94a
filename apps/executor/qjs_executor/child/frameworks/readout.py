"""Plans the measurements at the end of a circuit: registers of bits, and observables that share one measurement.

An observable is a sum of products, each of one letter per qubit. The letters X, Y and Z are the Pauli matrices; other
letters stand for the eigenbasis of a matrix. Observables can be measured together when they agree on every qubit's
letter, or when their products of Pauli matrices commute: then a Clifford circuit makes products of Z of them. Others
are refused by name.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from ..adapted_circuit import Observable
from ..refusals import Unsupported
from .commuting import clusters, diagonalised
from .program import SYNTHESISED_QUBITS_MAX, Matrix, Program, on, synthesised

Letters = tuple[tuple[int, str], ...]
"""A product: (qubit, letter), sorted by qubit."""
Terms = dict[Letters, float]
"""A sum of products with their coefficients; the empty product is the constant."""

_H = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
_PAULI_ROTATIONS = {"X": (["h {0};"], _H), "Y": (["sdg {0};", "h {0};"], _H @ np.diag([1, -1j]))}
_NEGLIGIBLE = 1e-12


class Readout:
    """Collects what is measured; `write` appends it to the program. `shown` names a qubit in messages."""

    def __init__(self, shown: Callable[[int], object]) -> None:
        self._shown = shown
        self._bases: dict[int, tuple[str, str]] = {}
        self._rotations: dict[str, tuple[list[int], Matrix]] = {}
        self._registers: list[tuple[str, list[int] | None]] = []
        self._observables: list[tuple[str, str, Terms]] = []
        self._diagonalised = False

    def bits(self, name: str, qubits: Sequence[int]) -> None:
        """A register of qubits measured without a change of basis, first one leftmost."""
        for qubit in qubits:
            self._claim(qubit, "Z", name)
        self._registers.append((name, list(qubits)))

    def basis_bits(self, name: str, qubits: Sequence[int], terms: Terms) -> None:
        """A register of qubits measured in the basis of a product of Pauli matrices, 0 for +1."""
        letters = dict(next(iter(terms), ()))
        if len(terms) != 1 or not set(letters.values()) <= {"X", "Y", "Z"} or not terms[tuple(letters.items())] > 0:
            raise Unsupported(
                f"{name}{on([self._shown(q) for q in qubits])}: bits can be given only in the basis of a product of"
                " Pauli matrices; ask for the expectation value instead"
            )
        for qubit in qubits:
            self._claim(qubit, letters.get(qubit, "Z"), name)
        self._registers.append((name, list(qubits)))

    def observable(self, name: str, kind: str, terms: Terms) -> None:
        """An expectation value ("expval") or variance ("var")."""
        if not self._observables:
            self._registers.append(("observables", None))
        self._observables.append((name, kind, terms))

    def eigenbasis(self, name: str, matrix: Matrix, qubits: Sequence[int]) -> Terms:
        """The terms of a Hermitian matrix on some qubits (first one most significant), diagonal in its eigenbasis."""
        size = len(qubits)
        if size > SYNTHESISED_QUBITS_MAX or matrix.shape != (1 << size, 1 << size):
            raise Unsupported(
                f"{name}{on([self._shown(q) for q in qubits])}: observables given by a matrix act on at most"
                f" {SYNTHESISED_QUBITS_MAX} qubits"
            )
        if not np.allclose(matrix, matrix.conj().T, rtol=0, atol=1e-9):
            raise Unsupported(f"{name}{on([self._shown(q) for q in qubits])} is not Hermitian and cannot be measured")
        if np.allclose(matrix, np.diag(np.diag(matrix)), rtol=0, atol=_NEGLIGIBLE):
            letter, values = "Z", np.real(np.diag(matrix))
        else:
            values, vectors = np.linalg.eigh(matrix)
            letter = f"basis of {name}"
            same = [key for key, (places, known) in self._rotations.items() if places == list(qubits)]
            for key in same:
                known = self._rotations[key][1]
                rotated = known @ matrix @ known.conj().T
                if np.allclose(rotated, np.diag(np.diag(rotated)), rtol=0, atol=1e-10):
                    letter, values = key, np.real(np.diag(rotated))
                    break
            else:
                while letter in self._rotations:
                    letter += "'"
                self._rotations[letter] = (list(qubits), vectors.conj().T)
        terms: Terms = {}
        for mask in itertools.product((0, 1), repeat=size):
            # One coefficient per parity: the Walsh-Hadamard transform of the eigenvalues.
            signs = [
                (-1) ** sum(bit & side for bit, side in zip(bits, mask, strict=True))
                for bits in itertools.product((0, 1), repeat=size)
            ]
            coefficient = float(np.dot(signs, values)) / (1 << size)
            if abs(coefficient) > _NEGLIGIBLE:
                letters = sorted((q, letter) for q, used in zip(qubits, mask, strict=True) if used)
                terms[tuple(letters)] = coefficient
        return terms

    @property
    def turned(self) -> bool:
        """Whether something is measured in another basis than that of Z."""
        return self._diagonalised or any(letter != "Z" for letter, _ in self._bases.values())

    def write(self, program: Program) -> tuple[list[str] | None, list[Observable] | None]:
        """Appends rotations and measurements; returns the registers' shown names and the observables."""
        self._settle(program)
        self._rotate(program)
        places: dict[int, int] = {}
        names: list[str] = []
        position = 0
        observed = sorted({q for _, _, terms in self._observables for letters in terms for q, _ in letters})
        plain = {q for _, listed in self._registers if listed is not None for q in listed}
        for name, listed in self._registers:
            qubits = [q for q in observed if q not in plain] if listed is None else listed
            if not qubits:
                continue
            register = program.register(len(qubits), f"c{len(names)}")
            names.append(name)
            for bit, qubit in enumerate(qubits):
                program.measure(qubit, register, bit)
                places.setdefault(qubit, position)
                position += 1
        if not self._observables:
            return names or None, None
        return names or None, [self._placed(name, kind, terms, places) for name, kind, terms in self._observables]

    def _placed(self, name: str, kind: str, terms: Terms, places: dict[int, int]) -> Observable:
        constant = sum(value for letters, value in terms.items() if not letters)
        rest = [(value, [places[qubit] for qubit, _ in letters]) for letters, value in terms.items() if letters]
        return Observable(name, "var" if kind == "var" else "expval", float(constant), rest)

    def _settle(self, program: Program) -> None:
        """Finds a common basis for the observables, group after group of qubits that they entangle."""
        for qubits in clusters([letters for _, _, terms in self._observables for letters in terms]):
            claimed = dict(self._bases)
            try:
                for name, _, terms in self._observables:
                    for qubit, letter in (pair for letters in terms for pair in letters if pair[0] in qubits):
                        self._claim(qubit, letter, name)
            except Unsupported:
                words = {
                    letters
                    for _, _, terms in self._observables
                    for letters in terms
                    if letters and letters[0][0] in qubits
                }
                replaced = None if qubits & set(claimed) else diagonalised(program, sorted(words))
                if replaced is None:
                    raise
                self._diagonalised = True
                self._bases = {**claimed, **dict.fromkeys(qubits, ("Z", self._observables[0][0]))}
                self._observables = [
                    (name, kind, _replaced(terms, replaced)) for name, kind, terms in self._observables
                ]

    def _rotate(self, program: Program) -> None:
        done: set[str] = set()
        for qubit, (letter, name) in sorted(self._bases.items()):
            if letter in _PAULI_ROTATIONS:
                statements, matrix = _PAULI_ROTATIONS[letter]
                program.gate(f"basis change of {name}", statements, [qubit], matrix)
            elif letter != "Z" and letter not in done:
                done.add(letter)
                qubits, matrix = self._rotations[letter]
                statements = synthesised(f"basis change of {name}", qubits, matrix)
                program.gate(f"basis change of {name}", statements, qubits, matrix)

    def _claim(self, qubit: int, letter: str, name: str) -> None:
        taken, other = self._bases.setdefault(qubit, (letter, name))
        group = self._rotations.get(letter, ([qubit],))[0]
        for member in group:
            taken, other = self._bases.setdefault(member, (letter, name))
            if taken != letter:
                where = f"qubit {self._shown(member)} in different bases ({taken} and {letter})"
                if other == name:
                    raise Unsupported(
                        f"the terms of {name} cannot be measured together: they need {where}; return terms that commute"
                        " from one job each, or compute the value in main() with a simulator of the code's own"
                    )
                raise Unsupported(
                    f"{other} and {name} cannot be measured together: they need {where}; run them as two jobs"
                )


def _replaced(terms: Terms, replaced: dict[Letters, tuple[Letters, int]]) -> Terms:
    """The terms with products of Z, and their signs, in place of what a Clifford circuit turned into them."""
    return weighted_sum(
        [
            (value, {replaced[letters][0]: float(replaced[letters][1])} if letters in replaced else {letters: 1.0})
            for letters, value in terms.items()
        ]
    )


def product(parts: Sequence[Terms]) -> Terms:
    """The product of sums on different qubits."""
    terms: Terms = {(): 1.0}
    for part in parts:
        terms = {
            tuple(sorted(left + right)): a * b
            for (left, a), (right, b) in itertools.product(terms.items(), part.items())
        }
    return terms


def weighted_sum(parts: Sequence[tuple[float, Terms]]) -> Terms:
    """The sum of weighted sums."""
    terms: Terms = {}
    for weight, part in parts:
        for letters, value in part.items():
            terms[letters] = terms.get(letters, 0.0) + weight * value
    return terms
