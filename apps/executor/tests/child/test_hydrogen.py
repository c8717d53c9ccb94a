"""The Hamiltonian of the H2 templates, computed anew from the Gaussians of the basis set: STO-3G, 0.735 angstrom."""

from __future__ import annotations

import ast
from itertools import product
from math import erf, exp, pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

TEMPLATES = Path(__file__).resolve().parents[4] / "db" / "seed" / "templates"
BOHR = 0.529177210903
"""Angstrom."""
DISTANCE = 0.735 / BOHR
EXPONENTS = (3.42525091, 0.62391373, 0.16885540)
CONTRACTION = (0.15432897, 0.53532814, 0.44463454)
NUCLEI = (0.0, DISTANCE)
"""Places on a line, and of the two orbitals, one on each."""

Primitive = tuple[float, float, float]
"""Coefficient with its norm, exponent, place."""
PAULI = {"I": np.eye(2), "X": np.array([[0.0, 1.0], [1.0, 0.0]]), "Z": np.diag([1.0, -1.0])}


def boys(t: float) -> float:
    """The zeroth Boys function."""
    return 1 - t / 3 if t < 1e-8 else 0.5 * sqrt(pi / t) * erf(sqrt(t))


def primitives(place: float) -> list[Primitive]:
    """The 1s orbital of hydrogen at a place."""
    return [(c * (2 * a / pi) ** 0.75, a, place) for c, a in zip(CONTRACTION, EXPONENTS, strict=True)]


def pair(a: Primitive, b: Primitive) -> tuple[float, float, float, float]:
    """Of a product of two Gaussians: factor with the coefficients, sum and product of exponents, centre."""
    total, reduced = a[1] + b[1], a[1] * b[1] / (a[1] + b[1])
    factor = a[0] * b[0] * exp(-reduced * (a[2] - b[2]) ** 2)
    return factor, total, reduced, (a[1] * a[2] + b[1] * b[2]) / total


def overlap(a: Primitive, b: Primitive) -> float:
    """Of two Gaussians."""
    factor, total, _, _ = pair(a, b)
    return float(factor * (pi / total) ** 1.5)


def one_electron(a: Primitive, b: Primitive) -> float:
    """Kinetic energy and attraction by both nuclei."""
    factor, total, reduced, centre = pair(a, b)
    kinetic = reduced * (3 - 2 * reduced * (a[2] - b[2]) ** 2) * overlap(a, b)
    attraction = sum(-2 * pi / total * factor * boys(total * (centre - nucleus) ** 2) for nucleus in NUCLEI)
    return kinetic + attraction


def two_electron(a: Primitive, b: Primitive, c: Primitive, d: Primitive) -> float:
    """Repulsion (ab|cd)."""
    left, p, _, at = pair(a, b)
    right, q, _, other = pair(c, d)
    return left * right * 2 * pi * pi * sqrt(pi) / (p * q * sqrt(p + q)) * boys(p * q / (p + q) * (at - other) ** 2)


def contracted(integral: Any, *orbitals: list[Primitive]) -> float:
    """An integral over orbitals."""
    return float(sum(integral(*chosen) for chosen in product(*orbitals)))


@pytest.fixture(scope="module")
def electrons() -> npt.NDArray[np.float64]:
    """The Hamiltonian of two electrons of opposite spin in the bonding (g) and the antibonding (u) orbital, on the states
    gg, gu, ug, uu: the first letter is the electron with spin up."""
    atoms = [primitives(place) for place in NUCLEI]
    shared = contracted(overlap, *atoms)
    bonding = {"g": (1.0, 1.0), "u": (1.0, -1.0)}
    norms = {"g": 1 / sqrt(2 * (1 + shared)), "u": 1 / sqrt(2 * (1 - shared))}
    orbitals = {
        letter: [(sign * norms[letter] * c, a, x) for sign, atom in zip(signs, atoms, strict=True) for c, a, x in atom]
        for letter, signs in bonding.items()
    }
    states = [("g", "g"), ("g", "u"), ("u", "g"), ("u", "u")]
    matrix = np.zeros((4, 4))
    for (row, (a, b)), (column, (c, d)) in product(enumerate(states), enumerate(states)):
        if b == d:
            matrix[row, column] += contracted(one_electron, orbitals[a], orbitals[c])
        if a == c:
            matrix[row, column] += contracted(one_electron, orbitals[b], orbitals[d])
        matrix[row, column] += contracted(two_electron, orbitals[a], orbitals[c], orbitals[b], orbitals[d])
    return matrix


def constants(slug: str) -> dict[str, Any]:
    """What a template assigns at its top."""
    tree = ast.parse((TEMPLATES / f"{slug}.py").read_text())
    return {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


def on_qubits(terms: dict[str, float]) -> npt.NDArray[np.float64]:
    """A sum of Pauli terms, qubit 0 leftmost, as a matrix on 00, 01, 10, 11."""
    matrix = np.zeros((4, 4))
    for name, coefficient in terms.items():
        matrix += coefficient * np.kron(PAULI[name[0]], PAULI[name[1]])
    return matrix


def test_the_hamiltonian_is_that_of_two_electrons_in_the_field_of_two_protons(
    electrons: npt.NDArray[np.float64],
) -> None:
    reply = on_qubits(constants("vqe-h2")["HAMILTONIAN"])
    # Each qubit shows one electron's orbital: gg is 10, uu is 01, and one electron in each is 00 or 11.
    places = [0b10, 0b00, 0b11, 0b01]
    found = reply[np.ix_(places, places)]
    # The sign of an orbital is free, so that of what mixes two states is too.
    assert np.abs(np.abs(found) - np.abs(electrons)).max() < 1e-5
    assert np.abs(np.linalg.eigvalsh(reply) - np.linalg.eigvalsh(electrons)).max() < 1e-5


def test_the_ground_energy_and_the_repulsion_are_those_that_the_template_states(
    electrons: npt.NDArray[np.float64],
) -> None:
    stated = constants("vqe-h2")
    assert stated["NUCLEAR_REPULSION"] == pytest.approx(1 / DISTANCE, abs=1e-8)
    exact = float(np.linalg.eigvalsh(on_qubits(stated["HAMILTONIAN"]))[0]) + stated["NUCLEAR_REPULSION"]
    assert stated["GROUND_ENERGY"] == pytest.approx(exact, abs=1e-9)
    assert float(np.linalg.eigvalsh(electrons)[0]) + 1 / DISTANCE == pytest.approx(exact, abs=1e-5)


def test_at_the_best_angle_the_circuit_prepares_the_ground_state_itself() -> None:
    stated = constants("vqe-h2")
    theta = stated["BEST_THETA"]
    state = np.array([0.0, np.sin(theta / 2), np.cos(theta / 2), 0.0])
    matrix = on_qubits(stated["HAMILTONIAN"])
    energy = float(state @ matrix @ state)
    assert np.abs(matrix @ state - energy * state).max() < 1e-9
    assert energy + stated["NUCLEAR_REPULSION"] == pytest.approx(stated["GROUND_ENERGY"], abs=1e-9)


def test_the_workflow_has_the_same_hamiltonian() -> None:
    plain, tasks = constants("vqe-h2"), constants("vqe-workflow")
    assert {"II": tasks["IDENTITY"], **tasks["TERMS"]["Z"], **tasks["TERMS"]["X"]} == plain["HAMILTONIAN"]
    assert tasks["NUCLEAR_REPULSION"] == plain["NUCLEAR_REPULSION"]
