"""Reads OpenQASM text into a circuit: detects the version, reads version 2, and makes the checks that both versions
share."""

from __future__ import annotations

import re

from qiskit import QuantumCircuit, qasm2
from qiskit.circuit import Gate

from ..refusals import JobError, Unsupported
from .openqasm_text import CLBITS_MAX, placed, too_many_qubits

_SKIPPED = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_HEADER = re.compile(r"OPENQASM\s+(\d+)(?:\.(\d+))?\s*;")
_REGISTER = re.compile(r"\b(qreg|creg)\s+[A-Za-z_]\w*\s*\[\s*(\d+)\s*\]")
_VERSION_2_INCLUDE = re.compile(r'\binclude\s*"qelib1\.inc"')
_STATEMENT_OF_QUBITS = re.compile(
    r"""(?:^|[;{}])[ \t]*(?:
        qubit\s*(?:\[[^\]\n;]*\]\s*|\s)[A-Za-z_]\w*\s*;          # qubit[2] q;
        | qreg\s+[A-Za-z_]\w*\s*(?:\[[^\]\n;]*\])?\s*;           # qreg q[2];
        | include\s*"(?:stdgates|qelib1)\.inc"\s*;
        | [A-Za-z_]\w*(?:\([^;\n]*\))?\s+\$\d+\s*[,;]            # x $0;
    )""",
    re.VERBOSE | re.MULTILINE,
)
"""One of these stands in every program that has qubits, at the beginning of a statement."""
_FIRST_WORD = re.compile(
    r"(?:include|qubit|qreg|bit|creg|gate|def|const|input|let|int|uint|float|angle|bool|duration|stretch|array|extern"
    r"|pragma|box|for|if|while|reset|barrier|U|gphase|ctrl|negctrl|inv|pow)\b|[#@]\w|[A-Za-z_]\w*(?:\([^;\n]*\))?\s+\$\d"
)
"""How a program without a version line begins."""
RENAMED = ("c3x", "c4x", "rc3x", "c3sqrtx")
"""Gates of qelib1.inc that qiskit calls mcx, mcx, rcccx and c3sx."""
_DEFINED_GATE = re.compile(r"\b(?:gate|opaque)\s+([A-Za-z_]\w*)")


def has_version_line(text: str) -> bool:
    """Whether a text begins, after blanks and comments, with the version of OpenQASM."""
    text = _without_mark(text)
    return text.startswith("OPENQASM", _start(text))


def is_openqasm(text: str) -> bool:
    """Whether a text is recognisable as OpenQASM, with its version line or, which version 3 allows, without. Python is
    never taken for it, but a text in Python may contain such a text: look for Python first."""
    return has_version_line(text) or _STATEMENT_OF_QUBITS.search(_without_comments(_without_mark(text))) is not None


def is_openqasm_string(text: str) -> bool:
    """Whether a string in a Python program is a circuit: it begins with the version of OpenQASM, or with a statement of
    the language, and has qubits."""
    if has_version_line(text):
        return True
    text = _without_mark(text)
    return _FIRST_WORD.match(text, _start(text)) is not None and is_openqasm(text)


def program_start(text: str) -> int:
    """The place after the version line, or, without one, where the program begins."""
    header = _HEADER.match(text, _start(text))
    return header.end() if header else _start(text)


def _without_mark(text: str) -> str:
    """The text without the byte order mark that some editors begin files with."""
    return text.removeprefix("\ufeff")


def load(text: str, max_qubits: int, backend: str, form: str | None = None) -> QuantumCircuit:
    """The circuit of a program in OpenQASM 2 or 3; `form` (qasm2, qasm3) is the required version. A program without a
    version line is version 3. Raises JobError with the line."""
    text = _without_mark(text)
    header = _HEADER.match(text, _start(text))
    if header is None and (form == "qasm2" or has_version_line(text) or _VERSION_2_INCLUDE.search(text)):
        line = text.count("\n", 0, _start(text)) + 1
        versions = "'OPENQASM 2.0;'" if form == "qasm2" else "'OPENQASM 2.0;' or 'OPENQASM 3.0;'"
        raise JobError(f"the program has to begin with {versions}; only OpenQASM 3 needs no version line", line)
    major = header[1] if header is not None else "3"
    if header is not None and (major not in ("2", "3") or (major == "2" and (header[2] or "0") != "0")):
        line = text.count("\n", 0, header.start()) + 1
        raise Unsupported(f"OpenQASM version {major}.{header[2] or 0} is not known; use 2.0 or 3.0", line)
    if form is not None and form != f"qasm{major}":
        raise JobError(f"the circuit is declared as {form} but its text is OpenQASM {major}")
    if major == "2":
        return _load_version_2(text, max_qubits, backend)
    from .openqasm3 import load_version_3

    return load_version_3(text, max_qubits, backend)


def line_of(source: str | None, word: str) -> int | None:
    """The first line of the program where a name stands outside comments; None without a program."""
    if source is None:
        return None
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", _without_comments(source))
    return source.count("\n", 0, found.start()) + 1 if found else None


def _load_version_2(text: str, max_qubits: int, backend: str) -> QuantumCircuit:
    program = _without_comments(text)
    _check_registers(program, max_qubits, backend)
    defined = set(_DEFINED_GATE.findall(program))
    # The gates that qiskit's exporters write beyond qelib1.inc are known too, unless the program defines them itself.
    known = [_under_its_name(gate) for gate in qasm2.LEGACY_CUSTOM_INSTRUCTIONS if gate.name not in defined]
    try:
        return qasm2.loads(
            text, include_path=(), custom_instructions=known, custom_classical=qasm2.LEGACY_CUSTOM_CLASSICAL
        )
    except qasm2.QASM2ParseError as error:
        message, line = placed(error.message)
        raise JobError(f"OpenQASM 2: {message}", line) from None


def _under_its_name(known: qasm2.CustomInstruction) -> qasm2.CustomInstruction:
    """A gate of qelib1.inc under the name that it has there, where qiskit calls it otherwise."""
    if known.name not in RENAMED:
        return known

    def build(*params: float) -> Gate:
        own: Gate = known.constructor(*params)
        gate = Gate(known.name, own.num_qubits, list(params))
        gate.definition = own.definition
        return gate

    return qasm2.CustomInstruction(known.name, known.num_params, known.num_qubits, build, builtin=known.builtin)


def _check_registers(program: str, max_qubits: int, backend: str) -> None:
    """Adds up the declared sizes before a parser allocates them."""
    sizes = {"qreg": 0, "creg": 0}
    for found in _REGISTER.finditer(program):
        sizes[found[1]] += int(found[2][:20])
        line = program.count("\n", 0, found.start()) + 1
        if sizes["qreg"] > max_qubits:
            raise Unsupported(too_many_qubits(sizes["qreg"], backend, max_qubits), line)
        if sizes["creg"] > CLBITS_MAX:
            raise Unsupported(
                f"circuit declares {sizes['creg']} classical bits, at most {CLBITS_MAX} are possible", line
            )


def _without_comments(text: str) -> str:
    """The text with comments blanked out, so that places stay the same."""
    return _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _start(text: str) -> int:
    """Where the program begins: after a byte-order mark, blanks and comments."""
    found = _SKIPPED.match(text, 1 if text.startswith("\ufeff") else 0)
    return found.end() if found else 0
