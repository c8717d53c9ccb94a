"""Families of circuits agree with the reference in every language: at least 200 circuits, and the programs of OpenQASM
that say the same in other ways. The short lane takes one of each family.
"""

from __future__ import annotations

import pytest

from ..support.direct import answer, counts, refusal
from ..support.lanes import one_of_each
from . import loaded, reference
from .bound import disagreement
from .circuit import Gate, every
from .converters import EXACT, WRITERS, canonical, check, read
from .tables.table_families import ANSWERS, FAMILIES, FAMILY_OF
from .tables.table_texts import MEANT, REFUSED
from .writers.writing import Inexpressible

SHOTS = 2000
OPENQASM = ("openqasm3", "openqasm2")
FRAMEWORKS = tuple(language for language in WRITERS if language not in OPENQASM)
NARROW = "random dynamic narrow"
"""Compares a register with numbers that it cannot have, which only OpenQASM can say."""
IN_FRAMEWORKS = {name: row for name, row in FAMILIES.items() if not name.startswith(NARROW)}


def test_there_are_200_circuits_of_many_families() -> None:
    assert len(FAMILIES) + len(MEANT) >= 200
    assert len(set(FAMILY_OF.values())) >= 30
    assert set(ANSWERS) <= set(FAMILIES)


@pytest.mark.parametrize("name", ANSWERS)
def test_the_algorithms_give_what_they_are_known_to_give(name: str) -> None:
    assert reference.probabilities(FAMILIES[name])[ANSWERS[name]] == pytest.approx(1)


@pytest.mark.parametrize("name", one_of_each(FAMILIES, FAMILY_OF.__getitem__))
def test_a_circuit_in_openqasm_agrees_with_the_reference(name: str) -> None:
    row = FAMILIES[name]
    expected = reference.probabilities(row)
    written = 0
    for language in OPENQASM:
        try:
            program = WRITERS[language](row)
        except Inexpressible:
            continue
        written += 1
        check(row, canonical(language, program))
        found = counts("openqasm", program, shots=SHOTS, seed=31, max_qubits=20)
        assert disagreement(found, expected, SHOTS) is None, language
    assert written > 0


@pytest.mark.long
@pytest.mark.parametrize("language", FRAMEWORKS)
@pytest.mark.parametrize("name", IN_FRAMEWORKS)
def test_a_circuit_in_a_framework_does_exactly_what_the_reference_does(name: str, language: str) -> None:
    row = FAMILIES[name]
    try:
        program = WRITERS[language](row)
    except Inexpressible as reason:
        pytest.skip(f"{language} has no {reason}")
    if set(range(row.width)) - {q for gate in every(row.steps, Gate) for q in gate.qubits} and language != "qiskit":
        pytest.skip(f"{language} has no qubits that nothing uses")
    check(row, canonical(language, program))


def test_every_framework_says_most_of_the_circuits() -> None:
    for language in FRAMEWORKS:
        said = 0
        for row in IN_FRAMEWORKS.values():
            try:
                WRITERS[language](row)
                said += 1
            except Inexpressible:
                pass
        assert said >= (20 if language == "marqov" else 120), language


@pytest.mark.parametrize("name", MEANT)
def test_a_program_means_the_circuit_that_it_says_in_another_way(name: str) -> None:
    text, row = MEANT[name]
    expected = reference.probabilities(row)
    found = answer("openqasm", text, shots=SHOTS, seed=32)
    assert disagreement(found["counts"], expected, SHOTS) is None
    if not any(word in text for word in ("while", "switch", "!=", "[1:3]")):
        exact = loaded.probabilities(read(canonical("openqasm3", text)))
        assert {key: chance for key, chance in exact.items() if chance > EXACT} == pytest.approx(
            {key: chance for key, chance in expected.items() if chance > EXACT}
        )


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_refused_by_name(name: str) -> None:
    text, named = REFUSED[name]
    error = refusal("openqasm", text)
    assert named in error.message
    assert error.line is not None
