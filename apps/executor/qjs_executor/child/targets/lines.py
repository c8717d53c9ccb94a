"""Finds the line of the user's program from which an operation of the circuit comes. It is looked up only when an
operation is refused."""

from __future__ import annotations

import re

import openqasm3
from openqasm3 import ast
from qiskit import QuantumCircuit
from qiskit_qasm3_import.state import State

from ..circuits.openqasm import line_of
from ..circuits.openqasm3 import FaithfulVisitor

_COMMENT = re.compile(r"//[^\n]*")
_STATEMENT = re.compile(r"(?:if\s*\(([^()]*)\)\s*)?([A-Za-z_]\w*)\s*(\([^;]*\))?\s*([^;]*)", re.DOTALL)
_GATE_BODY = re.compile(r"\bgate\b[^{}]*\{[^{}]*\}", re.DOTALL)
_REGISTER = re.compile(r"\s*([A-Za-z_]\w*)\s*\[\s*(\d+)\s*\]")
_DECLARATIONS = ("OPENQASM", "include", "creg", "opaque", "gate")


def statement_line(source: str | None, circuit: QuantumCircuit, index: int | None, name: str) -> int | None:
    """The line (from 1) of the circuit's operation `index`, else the first that has its name; None without source."""
    if source is None:
        return None
    if index is not None:
        lines = _lines_of(source)
        # A circuit without measurements was given measurements, which do not have a line.
        if index < len(lines) <= len(circuit.data):
            return lines[index]
    return line_of(source, name) if name else None


def _lines_of(source: str) -> list[int]:
    """A line for every operation, in order; empty when they are unknown."""
    try:
        if re.match(r"(\s|//[^\n]*\n|/\*.*?\*/)*OPENQASM\s+2", source.removeprefix("\ufeff"), re.DOTALL):
            return _version_2(source)
        visitor = _TracingVisitor(max_qubits=1 << 30, backend="target")
        visitor.convert(openqasm3.parse(source.removeprefix("\ufeff")))
    except Exception:
        # The program was read once already; what fails here only costs the exact line.
        return []
    return visitor.lines


class _TracingVisitor(FaithfulVisitor):
    """Keeps the line of every operation that a statement of the program itself adds."""

    def __init__(self, max_qubits: int, backend: str) -> None:
        super().__init__(max_qubits, backend)
        self.lines: list[int] = []
        self._outermost: QuantumCircuit | None = None

    def visit(self, node: ast.QASMNode, context: State | None = None) -> State:
        if self._outermost is None and context is not None:
            self._outermost = context.circuit
        span = getattr(node, "span", None)
        line = span.start_line if span is not None else None
        result: State = super().visit(node, context)
        if line is not None and self._outermost is not None:
            self.lines += [line] * (len(self._outermost.data) - len(self.lines))
        return result


def _version_2(source: str) -> list[int]:
    """Statements of OpenQASM 2 act on whole registers at once when they name no index."""
    text = _COMMENT.sub(lambda found: " " * len(found[0]), source)
    text = _GATE_BODY.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    sizes: dict[str, int] = {}
    lines: list[int] = []
    place = 0
    for statement in text.split(";"):
        line = text.count("\n", 0, place + len(statement) - len(statement.lstrip())) + 1
        place += len(statement) + 1
        found = _STATEMENT.match(statement.strip())
        if found is None or found[2] in _DECLARATIONS:
            register = _REGISTER.match(statement.strip().removeprefix("creg"))
            if register:
                sizes[register[1]] = int(register[2])
            continue
        if found[2] == "qreg":
            register = _REGISTER.match(found[4])
            if register:
                sizes[register[1]] = int(register[2])
            continue
        operands = [operand.strip() for operand in re.split(r",|->", found[4])]
        whole = [sizes[operand] for operand in operands if operand in sizes]
        lines += [line] * (1 if not whole or found[2] == "barrier" else whole[0])
    return lines
