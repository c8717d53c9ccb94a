"""Detects which framework a program is written in, from its text alone."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..circuits.openqasm import has_version_line, is_openqasm
from ..python_text import is_like_python, parsed
from ..refusals import JobError

FRAMEWORKS = ("qiskit", "cirq", "pennylane", "openqasm", "marqov")
_PACKAGES = {
    "qiskit": "qiskit",
    "cirq": "cirq",
    "pennylane": "pennylane",
    "marqov": "marqov",
    "braket": "marqov",
}
"""By the first part of a package's name: `qiskit_aer` and `cirq_google` count as the framework that they extend."""
_CIRCUIT_NAMES = {
    "qiskit": {"QuantumCircuit"},
    "cirq": {"Circuit", "FrozenCircuit"},
    "pennylane": {"qnode", "QNode", "QuantumScript", "QuantumTape"},
    "marqov": {"Circuit", "bell_state", "ghz_state", "task", "workflow", "get_device"},
}
"""The names that make a circuit in each framework."""


class LanguageNotDetected(JobError):
    """The text does not show which framework it is written in."""

    code = "language_not_detected"


def detect(code: str) -> str:
    """The framework of a program: openqasm by its version line or, where it is not Python, by its statements; else by
    its imports; with several imported, the one whose circuit object is made. Raises LanguageNotDetected, and JobError
    for Python that cannot be parsed."""
    if has_version_line(code):
        return "openqasm"
    try:
        tree = parsed(code)
    except JobError:
        if is_like_python(code):
            raise
        if is_openqasm(code):
            return "openqasm"
        raise _not_detected(
            "the text is neither Python nor OpenQASM, which is known by its version line or its declaration of qubits"
        ) from None
    bound = _imports(tree)
    imported = sorted({framework for framework, _ in bound.values()})
    if len(imported) == 1:
        return imported[0]
    made = sorted(_made(ast.walk(tree), bound)) if imported else []
    chosen = _assigned(tree, bound) if len(made) > 1 else set(made)
    if len(chosen) == 1:
        return chosen.pop()
    seen = f"circuits of {', '.join(made)} are made" if made else f"imports found: {', '.join(imported) or 'none'}"
    raise _not_detected(seen)


def is_openqasm_source(code: str) -> bool:
    """Whether a source is a program in OpenQASM, and not Python."""
    if has_version_line(code):
        return True
    try:
        parsed(code)
    except JobError:
        return not is_like_python(code) and is_openqasm(code)
    return False


def _not_detected(seen: str) -> LanguageNotDetected:
    return LanguageNotDetected(
        f"the language could not be detected ({seen}); supported frameworks: {', '.join(FRAMEWORKS)}. Choose the"
        " language explicitly, or add the import statement of the framework you use"
    )


def _framework(module: str) -> str | None:
    return _PACKAGES.get(module.split(".")[0].split("_")[0])


def _imports(tree: ast.Module) -> dict[str, tuple[str, str]]:
    """Names that the program binds to a framework's module or to something in it: the framework, and the thing's own
    name ("" for a module)."""
    bound: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                framework = _framework(alias.name)
                if framework:
                    bound[alias.asname or alias.name.split(".")[0]] = (framework, "")
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            framework = _framework(node.module)
            if framework:
                # A star binds every name; those that make circuits are the ones that matter here.
                stars = [(name, name) for name in _CIRCUIT_NAMES[framework]]
                named = [(alias.asname or alias.name, alias.name) for alias in node.names if alias.name != "*"]
                for name, own in named if named else stars:
                    bound[name] = (framework, own)
    return bound


def _assigned(tree: ast.Module, bound: dict[str, tuple[str, str]]) -> set[str]:
    """Frameworks of the value assigned to the variable that is executed, `circuit` or else `qc`, by the outermost
    call."""
    for wanted in ("circuit", "qc"):
        made: set[str] = set()
        for node in ast.walk(tree):
            names = [target.id for target in getattr(node, "targets", []) if isinstance(target, ast.Name)]
            if isinstance(node, ast.Assign) and wanted in names:
                value: ast.expr = node.value
                # Circuit().h(0).x(1): the innermost call of the chain makes it.
                while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and not _dotted(value.func):
                    value = value.func.value
                made |= _made([value], bound)
        if made:
            return made
    return set()


def _made(nodes: Iterable[ast.AST], bound: dict[str, tuple[str, str]]) -> set[str]:
    """Frameworks whose circuits are made, by call or decorator."""
    made: set[str] = set()
    for node in nodes:
        targets = [node.func] if isinstance(node, ast.Call) else getattr(node, "decorator_list", [])
        for target in targets:
            names = _dotted(target)
            framework, own = bound.get(names[0], ("", "")) if names else ("", "")
            if framework and not _CIRCUIT_NAMES[framework].isdisjoint([own, *names]):
                made.add(framework)
    return made


def _dotted(node: ast.AST) -> list[str]:
    """The names of `qml.qnode` or `QuantumCircuit.from_qasm_str`, first to last; none for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else []
