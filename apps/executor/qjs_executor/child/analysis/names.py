"""Finds what the names of a program stand for, from its imports and plain assignments."""

from __future__ import annotations

import ast
from collections.abc import Iterator

PATH_MAX = 200
"""Longer dotted names are ignored, because a chain of aliases could make one of any length."""

_STAR = {"marqov": ("task", "workflow", "get_device", "Circuit"), "marqov.workflows": ("task", "workflow")}
"""The names that matter here, for packages that programs import by a star."""


class Names:
    """The imported names of a program, by what they stand for: `t` for `marqov.task`."""

    def __init__(self, tree: ast.Module, nodes: list[ast.AST]) -> None:
        self._bound: dict[str, str] = {}
        for node in nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self._bind(alias.asname or alias.name.split(".")[0], alias.name if alias.asname else "")
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    for name in _STAR.get(node.module, ()) if alias.name == "*" else (alias.name,):
                        self._bind(alias.asname or name, f"{node.module}.{name}")
        self._follow(tree)

    def path(self, node: ast.AST) -> str | None:
        """The dotted path that an expression such as `m.workflows.task` stands for; None if it is not imported."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._bound:
            return None
        path = ".".join([self._bound[node.id], *reversed(parts)])
        return path if len(path) <= PATH_MAX else None

    def is_imported(self, name: str) -> bool:
        """Whether a name is bound by an import, or is an alias of one that is."""
        return name in self._bound

    def _bind(self, name: str, path: str) -> None:
        if len(name) <= PATH_MAX and len(path) <= PATH_MAX:
            self._bound[name] = path or name

    def _follow(self, tree: ast.Module) -> None:
        """Aliases (`t = task`), and imported names that the program redefines. Only statements that are always
        executed count: a definition in an `except ImportError` replaces nothing here."""
        imported: set[str] = set()
        for statement in tree.body:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                imported |= {alias.asname or alias.name.split(".")[0] for alias in statement.names}
            elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                if statement.name in imported:
                    self._bound.pop(statement.name, None)
            elif isinstance(statement, ast.Assign):
                path = self.path(statement.value)
                for target in statement.targets:
                    if isinstance(target, ast.Name) and path is not None:
                        self._bound[target.id] = path
                    elif isinstance(target, ast.Name):
                        self._bound.pop(target.id, None)


def module_statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Statements executed at module level, also inside if, for, while, with, try and match, in the text's order."""
    waiting: list[ast.stmt] = list(reversed(tree.body))
    while waiting:
        statement = waiting.pop()
        yield statement
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        inner: list[ast.stmt] = list(getattr(statement, "body", []))
        for handler in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
            inner += handler.body
        inner += [*getattr(statement, "orelse", []), *getattr(statement, "finalbody", [])]
        waiting.extend(reversed(inner))
