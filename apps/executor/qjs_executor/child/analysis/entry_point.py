"""Finds the part of a script that a job would execute, as far as its text shows."""

from __future__ import annotations

import ast

from ..circuits.openqasm import is_openqasm_string
from .findings import Caution, shown
from .functions import Function
from .names import Names, module_statements

CIRCUIT = "circuit"
"""Entry point of a script that is executed for the circuit it leaves, or for the circuits that it runs on its
device."""

_FRAMEWORK_PACKAGES = frozenset({"qiskit", "qiskit_aer", "cirq", "pennylane", "marqov", "braket"})
_NAMES_SHOWN = 10


def entry_point(
    tree: ast.Module, nodes: list[ast.AST], names: Names, functions: list[Function]
) -> tuple[str | None, list[Caution]]:
    """`main`, the name of the one workflow, "circuit", or None with the reason."""
    if _defines_main(tree, functions):
        return "main", []
    workflows = list(dict.fromkeys(item.name for item in functions if item.is_workflow and item.is_at_module_level))
    if len(workflows) == 1:
        return workflows[0], []
    if workflows:
        listed = ", ".join(shown(name) for name in workflows[:_NAMES_SHOWN])
        message = f"several workflows were found ({listed}); define main() to choose the one to run"
        line = next(item.line for item in functions if item.name == workflows[1])
        return None, [Caution("several_workflows", message, line)]
    if _leaves_circuit(tree, names, functions) or _runs_on_device(nodes, names):
        return CIRCUIT, []
    message = (
        "nothing here says what to run: define main(), decorate one function with @workflow, or assign a circuit to a"
        " variable named 'circuit'"
    )
    return None, [Caution("missing_entry_point", message)]


def _defines_main(tree: ast.Module, functions: list[Function]) -> bool:
    if any(item.name == "main" and item.is_at_module_level for item in functions):
        return True
    for statement in module_statements(tree):
        if isinstance(statement, ast.Assign) and not isinstance(statement.value, ast.Constant):
            if any(isinstance(target, ast.Name) and target.id == "main" for target in statement.targets):
                return True
        elif isinstance(statement, ast.ImportFrom) and any(
            (alias.asname or alias.name) == "main" for alias in statement.names
        ):
            return True
    return False


def _leaves_circuit(tree: ast.Module, names: Names, functions: list[Function]) -> bool:
    """Whether a variable at module level is set to the result of a framework or of the script's own function, or to
    OpenQASM text."""
    local = {item.name for item in functions if not item.is_task}
    for statement in module_statements(tree):
        if isinstance(statement, ast.FunctionDef):
            if any(_root(names, _called(item)) == "pennylane" for item in statement.decorator_list):
                return True
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            for node in ast.walk(statement.value):
                if isinstance(node, ast.Call) and (
                    _root(names, node.func) in _FRAMEWORK_PACKAGES
                    or (isinstance(node.func, ast.Name) and node.func.id in local)
                ):
                    return True
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and is_openqasm_string(node.value):
                    return True
    return False


def _runs_on_device(nodes: list[ast.AST], names: Names) -> bool:
    devices = {"device"}
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _is_get_device(node.value, names):
            devices |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "run":
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id in devices:
                return True
            if isinstance(owner, ast.Call) and _is_get_device(owner, names):
                return True
    return False


def _is_get_device(call: ast.Call, names: Names) -> bool:
    return (names.path(call.func) or "") in ("marqov.get_device", "marqov.device.get_device")


def _called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _root(names: Names, node: ast.expr) -> str | None:
    path = names.path(node)
    return None if path is None else path.partition(".")[0]
