"""Describes a script from its text only: it is neither executed nor imported."""

from __future__ import annotations

import ast
import gc
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..analog.text import is_analog
from ..analog.text import read as read_analog
from ..circuits.openqasm import has_version_line, is_openqasm, load
from ..python_text import is_like_python
from ..refusals import JobError
from ..source.detection import LanguageNotDetected, detect
from .checks import (
    decision_cautions,
    file_cautions,
    import_cautions,
    imported_packages,
    network_cautions,
)
from .entry_point import CIRCUIT, entry_point
from .findings import Caution, Fault, shown_cautions, shown_faults
from .functions import FUNCTIONS_MAX, Function, FunctionReader
from .names import Names
from .qubits import certain_qubits
from .requirements import read_requirements
from .syntax import read_python

QUBITS_MAX = 256
"""Wider than any circuit that a backend here takes."""
_READ = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.Assign,
    ast.ClassDef,
    ast.Call,
    ast.Try,
)
"""The nodes that the readers read; most of a program are others."""


def analyse(code: str, requirements: str | None) -> dict[str, Any]:
    """The facts of a script: {framework, script_type: workflow|task|script, imports, functions, entry_point, qubits,
    source_sha256, errors: [{message, line, column, source}], warnings: [{id, message, line?}], requirements}. A fact
    that the text does not show with certainty is null. Never raises because of the user's text: faults in it are errors
    in the answer."""
    asked = read_requirements(requirements)
    with _collector_paused():
        if is_analog(code):
            facts = _analog_facts(code)
        else:
            facts = _openqasm_facts(code) if has_version_line(code) else _python_facts(code)
    return {
        **facts,
        "source_sha256": hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest(),
        "errors": shown_faults([*facts["errors"], *asked.faults]),
        "warnings": shown_cautions([*facts["warnings"], *asked.cautions]),
        "requirements": asked.found,
    }


@contextmanager
def _collector_paused() -> Iterator[None]:
    """A tree of a million nodes takes twice the time while the garbage collector searches it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _analog_facts(code: str) -> dict[str, Any]:
    """Its qubits are its sites. It is no script: only a circuit's format says which devices run it."""
    faults = [Fault("this is an analog program: submit it as a circuit of the format ahs, not as a script")]
    qubits = None
    try:
        qubits = len(read_analog(code)["setup"]["ahs_register"]["sites"])
    except JobError as error:
        faults.append(Fault(error.message, error.line))
    return _facts(None, [], [], None, qubits, faults, [])


def _openqasm_facts(code: str) -> dict[str, Any]:
    faults: list[Fault] = []
    qubits = None
    try:
        qubits = load(code, QUBITS_MAX, "the widest backend").num_qubits
    except JobError as error:
        faults.append(Fault(error.message, error.line))
    return _facts("openqasm", [], [], CIRCUIT, qubits, faults, [])


def _python_facts(code: str) -> dict[str, Any]:
    tree, faults, compiled = read_python(code)
    if tree is None and is_openqasm(code) and not is_like_python(code):
        return _openqasm_facts(code)
    if tree is None:
        return _facts(None, [], [], None, None, faults, [])
    every = list(ast.walk(tree))
    nodes: list[ast.AST] = [node for node in every if isinstance(node, _READ)]
    names = Names(tree, nodes)
    reader = FunctionReader(tree, nodes, names)
    functions = reader.read()
    entry, cautions = entry_point(tree, nodes, names, functions)
    framework = _framework(code, nodes)
    if not compiled:
        cautions.append(
            Caution("not_compiled", "long or deeply nested: some syntax errors will show only when it runs")
        )
    cautions += [
        *decision_cautions(functions),
        *import_cautions(nodes),
        *network_cautions(nodes),
        *file_cautions(nodes, names),
        *reader.cautions,
    ]
    is_circuit = framework == "qiskit" and entry == CIRCUIT
    qubits = certain_qubits(tree, every, names) if is_circuit else None
    return _facts(framework, imported_packages(nodes), functions, entry, qubits, faults, cautions)


def _facts(
    framework: str | None,
    imports: list[str],
    functions: list[Function],
    entry: str | None,
    qubits: int | None,
    faults: list[Fault],
    cautions: list[Caution],
) -> dict[str, Any]:
    if any(function.is_workflow for function in functions):
        script_type = "workflow"
    else:
        script_type = "task" if any(function.is_task for function in functions) else "script"
    return {
        "framework": framework,
        "script_type": script_type,
        "imports": imports,
        "functions": [function.plain() for function in functions[:FUNCTIONS_MAX]],
        "entry_point": entry,
        "qubits": qubits,
        "errors": faults,
        "warnings": cautions,
    }


def _framework(code: str, nodes: list[ast.AST]) -> str | None:
    # Detection parses its own copy of the text. The imports alone decide unless they name several frameworks, or none.
    imports = "\n".join(ast.unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))
    for text in (imports, code) if imports else ():
        try:
            return detect(text)
        except LanguageNotDetected:
            continue
    return None
