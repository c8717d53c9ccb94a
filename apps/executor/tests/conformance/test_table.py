"""The table itself: it is large, lists what it cannot express, and its programs mean in their own framework what they
should."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any

import marqov
import numpy as np
import pennylane as qml
import pytest
from braket.devices import LocalSimulator
from cirq import Simulator, measure
from qiskit.circuit import library
from qiskit.circuit.library import get_standard_gate_name_mapping
from qiskit.quantum_info import Operator

from ..support.lanes import one_of_each
from . import gates, reference
from .bound import disagreement
from .circuit import Circuit, Gate, circuit, every, features
from .converters import WRITERS, equal_up_to_phase
from .tables.gaps import GAPS, gap
from .tables.table import PROGRAMS, TABLE
from .tables.table_gates import GATE_ROWS
from .writers.braket_programs import MARQOV
from .writers.openqasm_programs import DEFINITIONS, QELIB1, STDGATES
from .writers.qiskit_programs import CLASSES
from .writers.writing import Inexpressible


def test_the_table_has_every_standard_gate_and_far_more_than_sixty_circuits() -> None:
    used = {gate.name for row in TABLE.values() for gate in every(row.steps, Gate)}
    assert (STDGATES | QELIB1 | set(DEFINITIONS)) <= used
    assert used == set(gates.MATRICES)
    assert len(TABLE) >= 140
    for language in WRITERS:
        enough = 20 if language == "marqov" else 100
        assert sum(1 for _, of in PROGRAMS if of == language) >= enough, language


@pytest.mark.parametrize("language", WRITERS)
def test_what_a_language_cannot_express_is_listed_with_its_reason(language: str) -> None:
    assert {name for names in GAPS.values() for name in names} <= set(TABLE)
    for name, row in TABLE.items():
        try:
            WRITERS[language](row)
            found = None
        except Inexpressible as reason:
            found = str(reason)
        assert found == gap(language, name), name


def test_the_marqov_circuit_has_no_gates_that_the_table_leaves_out() -> None:
    other = {"cnot", "num_qubits", "simulate"}
    methods = {name for name, _ in inspect.getmembers(marqov.Circuit) if not name.startswith(("_", "to_", "from_"))}
    assert methods - other == set(MARQOV)


# The reference


@pytest.mark.parametrize("name", sorted(set(gates.MATRICES) - {"gphase"}))
def test_the_references_matrices_are_the_standard_ones(name: str) -> None:
    kind = type(get_standard_gate_name_mapping().get(name)) if name not in CLASSES else getattr(library, CLASSES[name])
    values = [0.1, 0.2, 0.3, 0.4][: len(inspect.signature(gates.MATRICES[name]).parameters)]
    expected = Operator(kind(*values)).reverse_qargs().data
    np.testing.assert_allclose(gates.MATRICES[name](*values), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([("x", 0), ("id", 2)], {"100": 1}),
        ([("h", 0), ("cx", 0, 2)], {"000": 0.5, "101": 0.5}),
        ([("x", 1), ("measure", 1, "b", 0), ("measure", 0, "a", 1)], {"100": 1}),
        ([("x", 0), ("measure", 0, "a", 0), ("if", ("a", 1), [("x", 1)]), ("measure", 1, "b", 0)], {"11": 1}),
        ([("x", 0), ("measure", 0, "a", 1), ("if", ("a", 2), [("x", 1)]), ("measure", 1, "b", 0)], {"011": 1}),
        ([("h", 0), ("cx", 0, 1), ("reset", 0), ("measure", 0, "c", 0), ("measure", 1, "c", 1)], {"00": 0.5, "01": 0.5}),
        ([("negctrl @ x", 0, 1)], {"01": 1}),
        ([("x", 0), ("pow(0.5) @ x", 0), ("inv @ sx", 0)], {"1": 1}),
    ],
)  # fmt: skip
def test_the_reference_is_right_about_circuits_with_known_answers(row: Any, expected: dict[str, float]) -> None:
    assert {k: v for k, v in reference.probabilities(circuit(row)).items() if v > 1e-12} == pytest.approx(expected)


def test_the_bound_rejects_wrong_counts_and_accepts_chance() -> None:
    half = {"0": 0.5, "1": 0.5}
    assert disagreement({"0": 2000, "1": 2000}, half, 4000) is None
    assert disagreement({"0": 2100, "1": 1900}, half, 4000) is None
    assert "'0' was counted 2300" in str(disagreement({"0": 2300, "1": 1700}, half, 4000))
    assert "'2' was counted 1 times and is impossible" in str(disagreement({"0": 2000, "1": 1999, "2": 1}, half, 4000))
    assert "3999 counts" in str(disagreement({"0": 3999}, {"0": 1.0}, 4000))
    assert "'0' was counted 4000" in str(disagreement({"0": 4000}, {"0": 0.99, "1": 0.01}, 4000))


# The programs


UNITARY = [name for name, row in TABLE.items() if row.is_unitary][:: 1 if "CONFORMANCE_LONG" in os.environ else 3]


@pytest.mark.parametrize("name", one_of_each(UNITARY, lambda name: features(TABLE[name])))
def test_programs_have_the_references_unitary_or_state_in_their_own_framework(name: str) -> None:
    expected = reference.unitary(TABLE[name])
    for language in OWN:
        if (name, language) in PROGRAMS:
            found = OWN[language](_made(name, language))
            assert equal_up_to_phase(found, expected if found.ndim == 2 else expected[:, 0]), language


def _made(name: str, language: str) -> Any:
    names: dict[str, Any] = {}
    exec(PROGRAMS[name, language], names)
    return names["circuit"]


def _braket_unitary_or_state(made: Any) -> Any:
    if not any(0 in instruction.control_state for instruction in made.instructions):
        return made.to_unitary()
    # That one forgets the states of controls; the simulator in turn errs at some powers and some dense circuits.
    return LocalSimulator().run(made.state_vector(), shots=0).result().values[0]


OWN: dict[str, Callable[[Any], Any]] = {
    "cirq": lambda circuit: circuit.unitary(),
    "pennylane": lambda node: qml.matrix(node, wire_order=node.device.wires)(),
    "braket": _braket_unitary_or_state,
    "marqov": lambda circuit: circuit.simulate().tensor.ravel(),
}
"""The unitary, or else the state, by the framework's own simulator."""


SAMPLED = [name for (name, of) in PROGRAMS if of == "cirq" and not TABLE[name].is_unitary]


@pytest.mark.parametrize("name", one_of_each(SAMPLED, lambda name: features(TABLE[name])))
def test_cirq_samples_the_references_probabilities_itself(name: str) -> None:
    made = _made(name, "cirq")
    shots = 300
    keys = [key for key in TABLE[name].registers if key in made.all_measurement_key_names()]
    if not keys:
        made.append(measure(*sorted(made.all_qubits()), key="all"))
        keys = ["all"]
    measured = Simulator(seed=5).run(made, repetitions=shots).measurements
    counts: dict[str, int] = {}
    for shot in range(shots):
        bits = "".join(str(bit) for key in keys for bit in measured[key][shot])
        counts[bits] = counts.get(bits, 0) + 1
    assert disagreement(counts, reference.probabilities(TABLE[name]), shots) is None


def test_gate_rows_turn_every_phase_into_a_probability() -> None:
    """A gate that is left out, or turned round, changes what the row's counts show."""
    for name, row in GATE_ROWS.items():
        expected = reference.probabilities(row)
        inner = [step for step in row.steps if isinstance(step, Gate)][row.width : -2 * row.width]
        for left_out in inner:
            if left_out.name in ("id", "gphase") and not left_out.modifiers:
                continue
            rest = Circuit(tuple(step for step in row.steps if step is not left_out), row.qubits)
            if equal_up_to_phase(reference.unitary(rest), reference.unitary(row)):
                continue
            other = reference.probabilities(rest)
            assert max(abs(expected.get(k, 0) - other.get(k, 0)) for k in expected | other) > 1e-9, (name, left_out)
