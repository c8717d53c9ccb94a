"""Finds how many qubits a Qiskit script's circuit has, where the text is unambiguous."""

from __future__ import annotations

import ast

from .names import Names

_DOUBT = frozenset(
    {"add_register", "add_bits", "tensor", "exec", "eval", "globals", "locals", "vars", "setattr", "__dict__"}
)
_KEPT_IN = ("circuit", "qc")
"""The variables that a job reads first."""
_QUBITS_MAX = 1_000_000


def certain_qubits(tree: ast.Module, nodes: list[ast.AST], names: Names) -> int | None:
    """The width of the only circuit of a script, made once at module level from a constant and kept in `circuit` or
    `qc`; None in any other case."""
    made = None
    for node in nodes:
        if isinstance(node, ast.Call) and names.path(node.func) in (
            "qiskit.QuantumCircuit",
            "qiskit.circuit.QuantumCircuit",
        ):
            if made is not None:
                return None
            made = node
        elif _is_doubtful(node):
            return None
    if made is None or not made.args or any(isinstance(item, ast.Starred) for item in made.args):
        return None
    name = next((_only_target(item) for item in tree.body if isinstance(item, ast.Assign) and item.value is made), None)
    if name not in _KEPT_IN:
        return None
    # A second binding of either name, however it is made, could be another circuit.
    stores = _stores(nodes)
    if sum(stores.get(kept, 0) for kept in _KEPT_IN) != 1:
        return None
    return _constant(made.args[0], tree, stores)


def _is_doubtful(node: ast.AST) -> bool:
    """Whether a node could widen a circuit, or bind one of its names, without being seen here."""
    if isinstance(node, ast.Attribute):
        return node.attr in _DOUBT or (node.attr in _KEPT_IN and not isinstance(node.ctx, ast.Load))
    if isinstance(node, ast.ImportFrom):
        return any(alias.name == "*" for alias in node.names)
    return isinstance(node, ast.Name) and node.id in _DOUBT


def _only_target(statement: ast.Assign) -> str | None:
    target = statement.targets[0]
    return target.id if len(statement.targets) == 1 and isinstance(target, ast.Name) else None


def _stores(nodes: list[ast.AST]) -> dict[str, int]:
    """How often each name is bound, anywhere in the program, in whatever way."""
    counts: dict[str, int] = {}
    for node in nodes:
        bound: list[str | None] = []
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound = [node.id]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound = [node.name]
        elif isinstance(node, ast.arg):
            bound = [node.arg]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound = [(alias.asname or alias.name.split(".")[0]) for alias in node.names]
        elif isinstance(node, ast.Global | ast.Nonlocal):
            bound = list(node.names)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            bound = [node.name]
        elif isinstance(node, ast.MatchMapping):
            bound = [node.rest]
        for name in bound:
            if name is not None:
                counts[name] = counts.get(name, 0) + 1
    return counts


def _constant(node: ast.expr, tree: ast.Module, stores: dict[str, int]) -> int | None:
    """The integer that an expression is: a literal, or a name bound once, at module level, to a literal."""
    if isinstance(node, ast.Name) and stores.get(node.id) == 1:
        value = next(
            (item.value for item in tree.body if isinstance(item, ast.Assign) and _only_target(item) == node.id), None
        )
        if value is None:
            return None
        node = value
    if not isinstance(node, ast.Constant) or isinstance(node.value, bool) or not isinstance(node.value, int):
        return None
    return node.value if 0 <= node.value <= _QUBITS_MAX else None
