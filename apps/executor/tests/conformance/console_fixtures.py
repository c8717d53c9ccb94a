"""What the web console's reader and simulators are held to, as JSON: the table's programs in OpenQASM with their exact
probabilities and the registers of their bit strings, and other programs, some of them changed by one token, with what the server makes of
them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qiskit import QuantumCircuit
from qiskit.exceptions import QiskitError

from qjs_executor.child.circuit_execution import checked
from qjs_executor.child.circuits.control_flow import refuse_variables
from qjs_executor.child.circuits.measurement import measured_layout, with_measurements
from qjs_executor.child.circuits.openqasm import load
from qjs_executor.child.engines.aer_target import check_operations, method_target
from qjs_executor.child.refusals import JobError

from ..support.direct import request
from . import loaded, reference
from .converters import canonical
from .tables.table import PROGRAMS, TABLE
from .tables.table_console import CONSOLE_PROGRAMS
from .tables.table_texts import MEANT, REFUSED

FOLDER = Path(__file__).parents[4] / "test/console/fixtures"
MAX_QUBITS = 64
CHANGES = 220
"""Programs changed by one token: so many that the server runs, and as many that it refuses."""
SHORT = 420
"""Characters of a program that is changed: a longer one says the same again."""
_TOKEN = re.compile(
    r"\"[^\"\n]*\"|\$\d+|[A-Za-z_]\w*|\d+\.\d*(?:[eE][-+]?\d+)?|\.?\d+(?:[eE][-+]?\d+)?|->|==|!=|<=|>=|&&|\|\||\S"
)
_OTHERS = (
    *("x", "cx", "h", "u2", "U", "ccx", "id", "gphase", "q", "c", "q0", "pi", "tau", "n", "0", "1", "2", "3", "7", "-1", "0.5"),
    *("ctrl @ x", "negctrl @ ry(0.3)", "inv @ s", "pow(0.5) @ x", "pow(2) @ t", "ctrl(2) @ x", "[", "]", "(", ")", "{", "}"),
    *(";", ",", ":", "+", "-", "*", "/", "==", "!=", "<", "&&", "!", "=", "->", "@", "if", "else", "for", "measure"),
    *("reset", "barrier", "qubit", "bit", "gate", "let", "const", "int", "float", "include", "qreg", "creg", "opaque", "1:2"),
)  # fmt: skip


def files() -> dict[str, list[dict[str, Any]]]:
    """The content of each fixture."""
    return {
        "conformance.json": list(_table()),
        "texts.json": list(_texts()),
        "programs.json": [{"text": text, **verdict} for text in CONSOLE_PROGRAMS if (verdict := server_reading(text))],
        "changed-programs.json": list(_changed()),
    }


def write() -> None:
    """Writes the fixtures, a row on each line."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, rows in files().items():
        lines = ",\n".join(json.dumps(row, separators=(",", ":"), ensure_ascii=False) for row in rows)
        (FOLDER / name).write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _table() -> Iterator[dict[str, Any]]:
    for name, circuit in TABLE.items():
        texts = {language: PROGRAMS[name, language] for language in LANGUAGES if (name, language) in PROGRAMS}
        yield {
            "name": name,
            **texts,
            "converted": canonical("openqasm3", texts["openqasm3"]),
            "registers": _registers(_measured(texts["openqasm3"])),
            "probabilities": _shortened(reference.probabilities(circuit)),
        }


LANGUAGES = ("openqasm2", "openqasm3")


def _texts() -> Iterator[dict[str, Any]]:
    for name, (text, circuit) in MEANT.items():
        yield {
            "name": name,
            "text": text,
            "registers": _registers(_measured(text)),
            "probabilities": _shortened(reference.probabilities(circuit)),
        }
    for name, (text, part) in REFUSED.items():
        yield {"name": name, "text": text, "refusal": part}


def _changed() -> Iterator[dict[str, Any]]:
    """Each program's change is drawn from one sequence of random numbers."""
    dice = random.Random(20261127)
    of_table = (text for (_, language), text in PROGRAMS.items() if language in LANGUAGES)
    texts = (*(text for text, _ in MEANT.values()), *CONSOLE_PROGRAMS, *of_table)
    bases = [text for text in texts if len(text) <= SHORT]
    seen: set[str] = set()
    left = {"refused": CHANGES, "registers": CHANGES}
    while any(left.values()):
        text = _changed_text(dice.choice(bases), dice)
        if text in seen or (not left["registers"] and dice.random() < 0.9):
            continue
        seen.add(text)
        verdict = server_reading(text)
        kind = next(iter(verdict or {}), None)
        if verdict is not None and kind is not None and left[kind]:
            left[kind] -= 1
            yield {"text": text, **verdict}


def _changed_text(text: str, dice: random.Random) -> str:
    tokens = list(_TOKEN.finditer(text))
    at = dice.randrange(len(tokens) - 1)
    first, second = tokens[at], tokens[at + 1]
    match dice.choice(("delete", "duplicate", "swap", "replace", "neighbour", "alike", "alike", "alike", "alike")):
        case "delete":
            return text[: first.start()] + text[first.end() :]
        case "duplicate":
            return f"{text[: first.end()]} {first[0]}{text[first.end() :]}"
        case "swap":
            between = text[first.end() : second.start()]
            return f"{text[: first.start()]}{second[0]}{between or ' '}{first[0]}{text[second.end() :]}"
        case "neighbour":
            return f"{text[: first.start()]}{dice.choice(tokens)[0]}{text[first.end() :]}"
        case "alike":
            # A word of the same kind is what a programmer confuses, and what changes a meaning without an error.
            others = [other for other in (*_OTHERS, *(token[0] for token in tokens)) if _kind(other) == _kind(first[0])]
            return f"{text[: first.start()]}{dice.choice(others or [first[0]])}{text[first.end() :]}"
        case _:
            return f"{text[: first.start()]}{dice.choice(_OTHERS)}{text[first.end() :]}"


def _kind(token: str) -> str:
    if token[0].isalpha():
        return "word"
    return "number" if token[-1].isdigit() else token if token in ";,:(){}[]" else "operator"


def server_reading(text: str) -> dict[str, Any] | None:
    """What the server makes of a text; None for a circuit whose probabilities are not computed here."""
    try:
        circuit = _measured(text)
        registers = _registers(circuit)
    except JobError as error:
        return {"refused": str(error), "line": error.line}
    except Exception as error:
        return {"refused": f"({type(error).__name__})", "line": None}
    try:
        return {"registers": registers, "probabilities": _shortened(loaded.probabilities(circuit))}
    except (AssertionError, QiskitError):
        return None


def _measured(text: str) -> QuantumCircuit:
    """The circuit as it is executed. Raises JobError for what is refused before that."""
    circuit = load(text, MAX_QUBITS, "the console")
    circuit = with_measurements(checked(circuit, text, request("openqasm", text, max_qubits=MAX_QUBITS)))
    refuse_variables(circuit)
    check_operations(circuit, method_target("statevector"), text)
    return circuit


def _registers(circuit: QuantumCircuit) -> list[dict[str, Any]]:
    return measured_layout(circuit).registers


def _shortened(chances: dict[str, float]) -> dict[str, float]:
    """All of them, with as many digits as a comparison to 1e-10 needs and some more."""
    return {key: float(f"{chance:.14g}") for key, chance in sorted(chances.items())}


if __name__ == "__main__":
    write()
