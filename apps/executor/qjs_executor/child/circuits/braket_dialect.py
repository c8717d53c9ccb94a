"""Reads the dialect of OpenQASM 3 that Amazon Braket takes: gates of its own (`cnot`, `xx`, ...) without an include,
and `#pragma braket`.

The program is read with definitions of these gates in front of it, so that bits, loops and conditions mean what they do
in any other program. Braket's own reader leaves out `reset` and the order of bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from openqasm3 import ast

from ..adapted_circuit import AdaptedCircuit
from ..refusals import Unsupported
from .braket_gates import ALIASES, BODIES, DEFINED
from .canonical import canonical_text
from .inputs import with_inputs
from .openqasm import program_start
from .openqasm3 import load_version_3
from .openqasm3_nodes import nodes

VERBATIM_DROPPED = (
    "verbatim: the gates of the box are simulated like all others, because a simulator has no native gates"
)
VERBATIM_AT_PROVIDER = "verbatim boxes cannot be sent to a quantum computer: its compiler would change them"
_INCLUDE = re.compile(r'\binclude\s*"')
_WORD = re.compile(r"\w+")


def is_dialect(text: str) -> bool:
    """Whether a program in OpenQASM 3 has no gates but Braket's and its own, because it includes none."""
    return _INCLUDE.search(text) is None


def load_dialect(
    text: str, max_qubits: int, backend: str, at_provider: bool, inputs: Mapping[str, Any]
) -> AdaptedCircuit:
    """The circuit of a program in Braket's dialect with the values of its inputs, in plain OpenQASM 3. Raises JobError
    with the line."""
    dialect = _Dialect(at_provider)
    place = program_start(text)
    with_gates = text[:place] + _definitions(text) + text[place:]
    circuit = with_inputs(load_version_3(with_gates, max_qubits, backend, dialect.prepare), inputs)
    return AdaptedCircuit(canonical_text(circuit), warnings=dialect.warnings)


def _definitions(text: str) -> str:
    """The gates that the text mentions, on the line of its beginning, so that lines keep their numbers."""
    mentioned = set(_WORD.findall(text))
    gates = [_definition(name) for name in DEFINED if name in mentioned]
    return f' include "stdgates.inc"; {" ".join(gates)} '


def _definition(name: str) -> str:
    body = BODIES[name]
    angles = ", ".join(letter for letter in "abc" if f"%{letter}" in body)
    qubits = ", ".join(f"q{place}" for place in range(3) if f"{{{place}}}" in body)
    written = re.sub(r"\{(\d)\}", r"q\1", body).replace("%", "")
    return f"gate {name}{f'({angles})' if angles else ''} {qubits} {{ {written} }}"


class _Dialect:
    """The changes to a parsed program, and the warnings about them."""

    def __init__(self, at_provider: bool) -> None:
        self.warnings: list[str] = []
        self._at_provider = at_provider

    def prepare(self, program: ast.Program) -> None:
        """Gives gates their standard names, and follows the pragmas."""
        own = {node.name.name for node in nodes(program) if isinstance(node, ast.QuantumGateDefinition)}
        for node in nodes(program):
            if isinstance(node, ast.QuantumGate) and node.name.name not in own:
                node.name.name = ALIASES.get(node.name.name, node.name.name)
        program.statements = list(self._without_pragmas(program.statements))

    def _without_pragmas(self, statements: Iterable[ast.Statement]) -> Iterable[ast.Statement]:
        verbatim = False
        for statement in statements:
            if isinstance(statement, ast.Pragma):
                verbatim = self._is_verbatim(statement)
            elif verbatim and isinstance(statement, ast.Box):
                yield from statement.body
                verbatim = False
            else:
                yield statement

    def _is_verbatim(self, pragma: ast.Pragma) -> bool:
        words = pragma.command.split()
        line = pragma.span.start_line if pragma.span is not None else None
        if words[:2] == ["braket", "verbatim"]:
            if self._at_provider:
                raise Unsupported(VERBATIM_AT_PROVIDER, line)
            self.warnings = [VERBATIM_DROPPED]
            return True
        if words[1:] == ["result", "state_vector"]:
            self.warnings.append("state_vector: the counts are given; set extract_state_vector for amplitudes")
        elif words[1:] not in (["result", "probability"], ["result", "probability", "all"]):
            raise Unsupported(
                f"#pragma {' '.join(words)[:80]} is not supported: set noise in params.noise_model, and write"
                " observables and matrices in Python with braket.circuits.Circuit",
                line,
            )
        return False
