"""Long programs that only call gates are read quickly, and mean what they mean when they are read in full."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qiskit import QuantumCircuit

from qjs_executor.child.circuits import openqasm3_calls
from qjs_executor.child.circuits.openqasm import load
from qjs_executor.child.refusals import JobError

from ...support.lanes import examples

HEADS = {
    **dict.fromkeys(("x", "h", "sdg", "sx", "id"), (1, 0)),
    **dict.fromkeys(("rz", "p", "u1", "rx"), (1, 1)),
    "u2": (1, 2),
    "u3": (1, 3),
    "cx": (2, 0),
    "cp": (2, 1),
    "ccx": (3, 0),
    "inv @ s": (1, 0),
    "ctrl @ rz": (2, 1),
    "ctrl(2) @ cx": (4, 0),
    "ctrl(2) @ inv @ sx": (3, 0),
}
ANGLES = st.floats(-7, 7, allow_nan=False)


@st.composite
def calls(draw: Any) -> str:
    head = draw(st.sampled_from(sorted(HEADS)))
    qubits, angles = HEADS[head]
    places = draw(st.permutations(range(5)))[:qubits]
    values = ", ".join(repr(draw(ANGLES)) for _ in range(angles))
    return f"{head}{f'({values})' if angles else ''} {', '.join(f'q[{place}]' for place in places)};"


MEASUREMENTS = st.builds(lambda bit, qubit: f"c0[{bit}] = measure q[{qubit}];", st.integers(0, 2), st.integers(0, 4))
STATEMENTS = st.lists(calls() | MEASUREMENTS, min_size=1, max_size=30)


def program(statements: list[str]) -> str:
    # The same ones again and again, until the program is long.
    repeated = statements * (openqasm3_calls.STATEMENTS_MIN // len(statements) + 1)
    return "\n".join(["OPENQASM 3.0;", 'include "stdgates.inc";', "qubit[5] q;", "bit[3] c0;", "bit[1] c1;", *repeated])


def read(text: str) -> tuple[QuantumCircuit | None, str]:
    try:
        return load(text, 8, "local"), ""
    except JobError as error:
        return None, f"{error.message} {error.line}"


def read_in_full(text: str) -> tuple[QuantumCircuit | None, str]:
    with patch.object(openqasm3_calls, "STATEMENTS_MIN", 10**9):
        return read(text)


def is_quick(text: str) -> bool:
    return openqasm3_calls.read_calls(text, 8, lambda part, qubits: load(part, qubits, "local")) is not None


@settings(max_examples=examples(60), deadline=None)
@given(STATEMENTS)
def test_a_program_of_calls_is_the_same_circuit_when_read_quickly(statements: list[str]) -> None:
    text = program(statements)
    assert is_quick(text)
    assert read(text) == read_in_full(text)


@pytest.mark.parametrize(
    "statement",
    [
        "x q[5];",
        "cx q[1], q[1];",
        "nothing q[0];",
        "rz q[0];",
        "rz(1/2) q[0];",
        "ctrl @ u3(0.1, 0.2, 0.3) q[0], q[1];",
        "c0[3] = measure q[0];",
        "c2[0] = measure q[0];",
        "if (c0[0] == 1) { x q[0]; }",
        "gate mine a { x a; } mine q[0];",
        "x q;",
        "rz(2*pi/3) q[0];",
        "gphase(0.5);",
        "// c0[0] = measure q[0];",
        "x q[0]",
    ],
)
def test_anything_else_is_read_in_full_with_its_own_error(statement: str) -> None:
    text = program(["h q[0];"]) + "\n" + statement
    assert not is_quick(text)
    assert read(text) == read_in_full(text)


@pytest.mark.parametrize("statement", ["reset q[0];", "barrier q[0], q[1];"])
def test_a_reset_and_a_barrier_are_read_quickly_too(statement: str) -> None:
    text = program(["h q[0];", statement])
    assert is_quick(text)
    assert read(text) == read_in_full(text)


def test_a_long_program_takes_no_longer_than_its_different_gates() -> None:
    text = program([f"rz({index % 7 + 0.5}) q[{index % 5}];" for index in range(20_000)])
    loads = 0

    def counting(part: str, qubits: int) -> QuantumCircuit:
        nonlocal loads
        loads += 1
        return load(part, qubits, "local")

    circuit = openqasm3_calls.read_calls(text, 8, counting)
    assert circuit is not None
    assert (len(circuit.data), loads) == (20_000, 7)
