"""Reads from a program's text how the names at its module level are used: where they are assigned, and what calls
`main`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

NOT_FOUND = (
    "No circuit found: assign your circuit to a variable named 'circuit'"
    " (frameworks: qiskit, cirq, pennylane, openqasm, marqov)."
)
_BUILDERS = {"QuantumCircuit", "Circuit", "FrozenCircuit"}


def assigned_positions(tree: ast.Module, names: list[str]) -> tuple[dict[str, int], dict[str, int | None]]:
    """For each name the position among the module's statements, and the line, of its last assignment; -1 and None when
    it is set in another way."""
    last = dict.fromkeys(names, -1)
    lines: dict[str, int | None] = dict.fromkeys(names)
    for position, statement in enumerate(_statements(tree.body)):
        stored: list[ast.expr] = []
        if isinstance(statement, ast.FunctionDef) and statement.name in last:
            last[statement.name], lines[statement.name] = position, statement.lineno
        elif isinstance(statement, ast.Assign):
            stored = statement.targets
        elif isinstance(statement, ast.AnnAssign | ast.AugAssign | ast.For):
            stored = [statement.target]
        elif isinstance(statement, ast.With):
            stored = [item.optional_vars for item in statement.items if item.optional_vars is not None]
        for node in (inner for item in stored for inner in ast.walk(item)):
            if isinstance(node, ast.Name) and node.id in last:
                last[node.id], lines[node.id] = position, statement.lineno
    return last, lines


OWN_CALL = "__value_of_main__"
"""The name under which a module keeps what `main` returned to the module's own call of it."""


def without_calls_of_main(tree: ast.Module) -> ast.Module:
    """The program without the statements that only call its own `main` (`main()`, `asyncio.run(main())`,
    `print(main())`), at module level or behind `if __name__ == "__main__":`. The executor calls `main` itself. A call
    with arguments stays, and its value is kept as OWN_CALL."""
    if any(isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef) and s.name == "main" for s in tree.body):
        for statement in tree.body:
            if isinstance(statement, ast.If) and _asks_whether_main(statement.test):
                statement.body = [s for s in statement.body if not _calls_main(s)] or [
                    ast.copy_location(ast.Pass(), statement)
                ]
                for inner in statement.body:
                    _keep_value(inner)
        tree.body = [statement for statement in tree.body if not _calls_main(statement)]
        for statement in tree.body:
            _keep_value(statement)
    return tree


def _asks_whether_main(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare):
        return False
    compared = [test.left, *test.comparators]
    return {getattr(node, "id", getattr(node, "value", None)) for node in compared} == {"__name__", "__main__"}


def _calls_main(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    call = _inner_call(statement.value)
    return _is_main(call) and not call.args and not call.keywords


def _keep_value(statement: ast.stmt) -> None:
    """Changes `main(5)`, `print(main(5))` and `x = asyncio.run(main(5))` so that the value is kept too."""
    if not isinstance(statement, ast.Expr | ast.Assign) or not isinstance(statement.value, ast.Call):
        return
    outer, call = statement.value, _inner_call(statement.value)
    if not _is_main(call) or not (call.args or call.keywords):
        return
    # asyncio.run(main(5)) has the value that its inner call only promises.
    wanted = outer if call is outer or _name(outer) == "run" else call
    kept = ast.NamedExpr(ast.Name(OWN_CALL, ast.Store()), wanted)
    if wanted is outer:
        statement.value = kept
    else:
        outer.args = [kept]
    ast.fix_missing_locations(ast.copy_location(kept, wanted))


def _inner_call(call: ast.Call) -> ast.Call:
    """The call inside of `asyncio.run(...)`, `print(...)`, `exit(...)` and `display(...)`."""
    inside = call.args[0] if len(call.args) == 1 else None
    return inside if _name(call) in _AROUND_MAIN and isinstance(inside, ast.Call) else call


_AROUND_MAIN = ("run", "print", "exit", "display")


def _name(call: ast.Call) -> str:
    name: str = getattr(call.func, "attr", getattr(call.func, "id", ""))
    return name


def _is_main(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "main"


def not_found(tree: ast.Module, namespace: dict[str, Any], is_circuit: Callable[[Any], bool]) -> str:
    """Why a program leaves no circuit, as far as its names reveal it."""
    for name, value in namespace.items():
        items = list(value.values()) if type(value) is dict else value
        if type(items) in (list, tuple) and any(is_circuit(item) for item in items[:1000]):
            kind = type(value).__name__
            place = f"{name}[{next(iter(value))!r}]" if kind == "dict" else f"{name}[0]"
            return f"{NOT_FOUND} '{name}' is a {kind} of circuits; one job runs one: circuit = {place}"
    for statement in reversed(tree.body):
        if isinstance(statement, ast.FunctionDef):
            hint = _function_hint(statement, namespace)
            if hint:
                return f"{NOT_FOUND} {hint}"
    return NOT_FOUND


def _function_hint(function: ast.FunctionDef, namespace: dict[str, Any]) -> str | None:
    """What to do with a function that makes a circuit which is not assigned at module level."""
    required = function.args.args[: len(function.args.args) - len(function.args.defaults)]
    arguments = ", ".join(argument.arg for argument in required)
    roots = {
        node.value.id
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    if any(getattr(namespace.get(root), "__name__", "") == "pennylane" for root in roots):
        return (
            f"'{function.name}' is a plain function: make it a QNode with @qml.qnode(qml.device('default.qubit',"
            " wires=...)), and call it with the arguments to be used"
        )
    made = {
        getattr(node.func, "attr", getattr(node.func, "id", ""))
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
    }
    if not made.isdisjoint(_BUILDERS):
        return f"'{function.name}' makes one: call it, for example circuit = {function.name}({arguments})"
    return None


def _statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements executed at module level, also inside if, for, while, with and try, in order."""
    found: list[ast.stmt] = []
    for statement in body:
        found.append(statement)
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for part in ("body", "orelse", "finalbody"):
            found += _statements(getattr(statement, part, []))
        for handler in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
            found += _statements(handler.body)
    return found
