"""Observables that need more than a basis per qubit, and the calls that say what a QNode is run with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pennylane as qml
import pytest
from braket.circuits import Circuit as BraketCircuit
from braket.circuits import Observable, observables
from braket.devices import LocalSimulator
from qiskit.quantum_info import Clifford, Pauli, random_clifford

from qjs_executor.child.frameworks import qnode_calls
from qjs_executor.child.refusals import JobError

from ...support import framework_tables as tables
from .test_framework_circuits import found
from .test_framework_refusals import refusal

DEVICE = qml.device("default.qubit", wires=4)


def commuting_words(seed: int, qubits: int, count: int) -> list[str]:
    """Different products of Pauli matrices that commute: products of Z behind one random Clifford circuit."""
    random = np.random.default_rng(seed)
    clifford: Clifford = random_clifford(qubits, seed=seed)
    masks = random.choice(np.arange(1, 2**qubits), size=min(count, 2**qubits - 1), replace=False)
    words = [
        Pauli((np.array([mask >> q & 1 for q in range(qubits)], dtype=bool), np.zeros(qubits, dtype=bool)))
        for mask in masks
    ]
    return [word.evolve(clifford).to_label().lstrip("-") for word in words]


@pytest.mark.parametrize("seed", range(12))
def test_products_that_commute_are_measured_together_whatever_their_letters(seed: int) -> None:
    qubits = 2 + seed % 3
    words = commuting_words(seed, qubits, 5)
    weights = np.random.default_rng(seed).normal(size=len(words))

    @qml.qnode(DEVICE)
    def circuit() -> Any:
        for layer in np.random.default_rng(seed + 100).uniform(0, 6, size=(2, qubits, 3)):
            for wire, angles in enumerate(layer):
                qml.Rot(*angles, wires=wire)
            for wire in range(qubits - 1):
                qml.CNOT([wire, wire + 1])
        measured = [qml.pauli.string_to_pauli_word(word) for word in words]
        return [*map(qml.expval, measured), qml.expval(qml.dot(weights, measured)), qml.var(qml.dot(weights, measured))]

    answer, expected = found(circuit), circuit()
    values = [tables.expectation(answer, index) for index in range(len(expected))]
    assert values == pytest.approx([float(value) for value in expected], abs=1e-7)


def test_bits_and_eigenbases_do_not_share_qubits_with_products_that_are_measured_together() -> None:
    pair = (qml.X(0) @ qml.X(1), qml.Z(0) @ qml.Z(1))
    matrix = np.array([[1, 1, 0, 0], [1, -1, 0, 0], [0, 0, 1, 1j], [0, 0, -1j, 2]])
    measured: dict[str, Callable[[], Any]] = {
        "bits": lambda: qml.probs(wires=[1]),
        "eigenbasis": lambda: qml.expval(qml.Hermitian(matrix, wires=[1, 2])),
    }
    for further in measured.values():

        @qml.qnode(DEVICE)
        def circuit(further: Callable[[], Any] = further) -> Any:
            return [*map(qml.expval, pair), further()]

        assert "cannot be measured together" in refusal(circuit)


def test_products_on_other_qubits_keep_their_own_bases() -> None:
    @qml.qnode(DEVICE)
    def circuit() -> Any:
        qml.RX(0.3, 2)
        qml.RY(0.4, 3)
        qml.IsingXX(0.7, [0, 1])
        return (
            *(qml.expval(op(0) @ op(1)) for op in (qml.X, qml.Y, qml.Z)),
            qml.expval(qml.Y(2)),
            qml.probs(wires=[3]),
        )

    answer = found(circuit)
    values = [tables.expectation(answer, index) for index in range(4)]
    assert values == pytest.approx([float(value) for value in circuit()[:4]], abs=1e-9)
    ones = sum(chance for bits, chance in tables.bit_probabilities(answer).items() if bits[-1] == "1")
    assert ones == pytest.approx(np.sin(0.2) ** 2, abs=1e-9)


def test_a_sum_of_braket_is_the_sum_of_its_parts() -> None:
    def prepared() -> BraketCircuit:
        return BraketCircuit().rx(0, 0.3).ry(1, 0.5).cnot(0, 1).rz(2, 0.2).h(2)

    parts: list[tuple[float, Any, list[int]]] = [
        (2.0, observables.X() @ observables.X(), [0, 1]),
        (-0.5, observables.Y() @ observables.Y(), [1, 0]),
        (3.0, observables.X(), [2]),
        (1.5, observables.Hermitian(np.array([[1, 0], [0, -2]])), [3]),
    ]
    expected = 0.0
    for weight, part, target in parts:
        alone = prepared().i(3).expectation(part, target=target)
        expected += weight * float(LocalSimulator().run(alone, shots=0).result().values[0])
    total = sum((weight * part for weight, part, _ in parts[1:]), parts[0][0] * parts[0][1])
    answer = found(prepared().i(3).expectation(total, target=[target for _, _, target in parts]))
    assert tables.expectation(answer, 0) == pytest.approx(expected, abs=1e-9)


# Calls of QNodes


@pytest.fixture
def remembering(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Calls are remembered as they are while a job's code runs."""
    monkeypatch.setattr(qml.QNode, "__call__", qml.QNode.__call__)
    qnode_calls.remember_calls()
    yield
    qnode_calls._calls.clear()


@qml.qnode(DEVICE)
def rotated(angles: Any) -> Any:
    """A QNode that cannot be run without its argument."""
    qml.RY(angles[0], 0)
    return qml.expval(qml.Z(0))


@pytest.mark.usefixtures("remembering")
def test_a_qnode_is_run_with_what_it_was_last_called_with_even_if_that_changed_since() -> None:
    angles = np.array([0.3])
    rotated(np.array([1.0]))
    rotated(angles)
    angles[0] = 2.0
    answer = found(rotated)
    assert tables.expectation(answer, 0) == pytest.approx(np.cos(0.3), abs=1e-9)
    assert "rotated(array([0.3]))" in answer.warnings[0]


@pytest.mark.usefixtures("remembering")
def test_a_call_that_failed_is_not_remembered() -> None:
    rotated([0.3])
    with pytest.raises(TypeError):
        rotated(7)
    assert tables.expectation(found(rotated), 0) == pytest.approx(np.cos(0.3), abs=1e-9)


@pytest.mark.usefixtures("remembering")
def test_a_call_whose_arguments_cannot_be_copied_is_not_guessed() -> None:
    class Angles(list[float]):
        def __deepcopy__(self, memo: Any) -> Any:
            raise RuntimeError("no copies")

    rotated([0.3])
    rotated(Angles([0.5]))
    with pytest.raises(JobError, match="'rotated' was called with arguments that cannot be copied"):
        found(rotated)


def test_a_qnode_that_was_never_called_is_refused_with_the_call_to_add() -> None:
    assert "call it with them, for example rotated(angles)" in refusal(rotated)


def test_observables_that_do_not_commute_are_refused_naming_both_and_the_qubit() -> None:
    circuit = BraketCircuit().h(0).expectation(Observable.X(), target=0).expectation(Observable.Z(), target=0)
    assert "they need qubit 0 in different bases (X and Z); run them as two jobs" in refusal(circuit)
