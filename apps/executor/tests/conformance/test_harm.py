"""A reader or writer of OpenQASM that drops, turns round or rounds an operation is caught by the table's comparison."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from qiskit import QuantumCircuit, qasm2

from qjs_executor.child import execution
from qjs_executor.child.circuits import openqasm3
from qjs_executor.child.circuits.canonical import canonical_text

from .converters import canonical, check
from .tables.table import PROGRAMS, TABLE

ROWS = ("crx", "ansatz of the marqov gates", "else on a register", "all measured in a circle")
"""At least three of them show each harm; the other tests look at the whole table."""


def _harmed(circuit: QuantumCircuit, harm: str) -> QuantumCircuit:
    """The circuit with the last operation that can bear the harm harmed."""
    rows = list(circuit.data)
    for place in reversed(range(len(rows))):
        item = rows[place]
        if harm == "drop":
            rows.pop(place)
            break
        if harm == "reverse" and item.operation.name in ("cx", "crx", "cz", "swap"):
            rows[place] = item.replace(qubits=tuple(reversed(item.qubits)))
            if item.operation.name in ("cx", "crx"):
                break
        if harm == "round" and item.operation.name in ("rx", "ry", "crx"):
            rounded = item.operation.copy()
            rounded.params = [round(float(rounded.params[0]), 4) + 1e-5]
            rows[place] = item.replace(operation=rounded)
            break
    harmed = circuit.copy_empty_like()
    for item in rows:
        harmed._append(item)
    return harmed


def _texts(harm: str) -> Callable[[str], str]:
    """The same harm to a canonical text."""
    if harm == "drop":
        return lambda text: re.sub(r"[^\n]*;\n$", "", text)
    if harm == "reverse":
        return lambda text: re.sub(r"\b(cx|crx\([^)]*\)) (\S+), (\S+);", r"\1 \3, \2;", text)
    return lambda text: re.sub(r"\b(c?r[xy])\(([-\d.]+)\)", lambda m: f"{m[1]}({float(m[2]) + 1e-5})", text)


@pytest.mark.parametrize("harm", ["drop", "reverse", "round"])
@pytest.mark.parametrize("part", ["reader of version 2", "reader of version 3", "writer"])
def test_an_operation_that_is_dropped_turned_round_or_rounded_is_caught(
    part: str, harm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    language = "openqasm2" if part == "reader of version 2" else "openqasm3"
    if part == "reader of version 2":
        real: Any = qasm2.loads
        monkeypatch.setattr(qasm2, "loads", lambda *a, **k: _harmed(real(*a, **k), harm))
    elif part == "reader of version 3":
        real = openqasm3.FaithfulVisitor.convert

        def convert(visitor: Any, program: Any) -> Any:
            state = real(visitor, program)
            # The proof of what a framework exported uses the same reader, so only the first reading is harmed.
            monkeypatch.setattr(openqasm3.FaithfulVisitor, "convert", real)
            state.circuit = _harmed(state.circuit, harm)
            return state

        monkeypatch.setattr(openqasm3.FaithfulVisitor, "convert", convert)
    else:
        real = canonical_text
        monkeypatch.setattr(execution, "canonical_text", lambda circuit: _texts(harm)(real(circuit)))
    caught = []
    for name in ROWS:
        if part == "reader of version 3":
            monkeypatch.setattr(openqasm3.FaithfulVisitor, "convert", convert)
        try:
            check(TABLE[name], canonical(language, PROGRAMS[name, language]))
        except AssertionError:
            caught.append(name)
    monkeypatch.undo()
    assert len(caught) >= 3, caught


@pytest.mark.parametrize("name", ROWS)
def test_the_rows_pass_unharmed(name: str) -> None:
    for language in ("openqasm2", "openqasm3"):
        check(TABLE[name], canonical(language, PROGRAMS[name, language]))
