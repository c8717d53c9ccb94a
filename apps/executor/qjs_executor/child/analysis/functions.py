"""The functions of a script: its tasks and workflows with their settings, and the other functions at module level."""

from __future__ import annotations

import ast
import math
from dataclasses import asdict, dataclass
from typing import Any

from .findings import Caution, shown
from .names import Names, module_statements

FUNCTIONS_MAX = 500
PARAMETERS_MAX = 100
"""As many as a page can show; a script's counts include the rest."""
RETRIES_DEFAULT = 0
TIMEOUT_DEFAULT = 300.0
"""The names that the SDK's decorator uses."""
_INTEGER_MAX = 2**53

_MODULES = ("marqov", "marqov.workflows", "marqov.workflows.decorators")
_DECORATORS = {f"{module}.{kind}": kind for module in _MODULES for kind in ("task", "workflow")}

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Parameter:
    """One parameter; `kind` in the words of Python's inspect module."""

    name: str
    kind: str
    has_default: bool


@dataclass(frozen=True)
class Function:
    """Describes one function. `retries` and `timeout` (seconds) are those of a task, null where the text alone does not
    show them."""

    name: str
    parameters: list[Parameter]
    is_task: bool
    is_workflow: bool
    retries: int | None
    timeout: float | None
    line: int
    is_at_module_level: bool
    node: FunctionNode | None

    def plain(self) -> dict[str, Any]:
        """The function as plain values."""
        return {
            "name": self.name,
            "parameters": [asdict(parameter) for parameter in self.parameters[:PARAMETERS_MAX]],
            "is_task": self.is_task,
            "is_workflow": self.is_workflow,
            "retries": self.retries,
            "timeout": self.timeout,
            "line": self.line,
        }


@dataclass(frozen=True)
class _Decoration:
    kind: str
    retries: int | None = None
    timeout: float | None = None


class FunctionReader:
    """Reads the functions of one program."""

    def __init__(self, tree: ast.Module, nodes: list[ast.AST], names: Names) -> None:
        self.cautions: list[Caution] = []
        self._names = names
        self._tree = tree
        self._nodes = nodes
        self._prepared: dict[str, _Decoration] = {}

    def read(self) -> list[Function]:
        """Every function at module level, and every task and workflow elsewhere, in the order of the text."""
        outer = [node for node in module_statements(self._tree) if isinstance(node, FunctionNode | ast.Assign)]
        for node in outer:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                decoration = self._decoration(node.value)
                for target in node.targets if decoration else ():
                    if isinstance(target, ast.Name) and decoration:
                        self._prepared[target.id] = decoration
        at_module_level = {id(node) for node in outer}
        functions = [
            self._function(node, id(node) in at_module_level) for node in self._nodes if isinstance(node, FunctionNode)
        ]
        defined = {function.name: function for function in functions if function.is_at_module_level}
        functions += [
            made for node in outer if isinstance(node, ast.Assign) for made in self._made_by_call(node, defined)
        ]
        found = [item for item in functions if item.is_at_module_level or item.is_task or item.is_workflow]
        found.sort(key=lambda function: function.line)
        if len(found) > FUNCTIONS_MAX:
            self._warn("more_functions", f"only the first {FUNCTIONS_MAX} of {len(found)} functions are listed", None)
        return found

    def _function(self, node: FunctionNode, is_at_module_level: bool) -> Function:
        decorations = [found for item in node.decorator_list if (found := self._decoration(item)) is not None]
        parameters = _parameters(node.args)
        if len(parameters) > PARAMETERS_MAX:
            message = (
                f"only the first {PARAMETERS_MAX} of {len(parameters)} parameters of {shown(node.name)}() are listed"
            )
            self._warn("more_parameters", message, node.lineno)
        return _with(decorations, node.name, parameters, node.lineno, is_at_module_level, node)

    def _made_by_call(self, node: ast.Assign, defined: dict[str, Function]) -> list[Function]:
        """`measure = task(retries=2)(run)` makes a task without the decorator's syntax."""
        call = node.value
        if not (isinstance(call, ast.Call) and len(call.args) == 1 and isinstance(call.args[0], ast.Name | ast.Lambda)):
            return []
        decoration = self._decoration(call.func)
        if decoration is None:
            return []
        inner = call.args[0]
        if isinstance(inner, ast.Lambda):
            parameters, body = _parameters(inner.args), None
        elif inner.id in defined:
            parameters, body = defined[inner.id].parameters, defined[inner.id].node
        else:
            return []
        targets = [target.id for target in node.targets if isinstance(target, ast.Name)]
        return [_with([decoration], name, parameters, node.lineno, True, body) for name in targets]

    def _decoration(self, node: ast.expr) -> _Decoration | None:
        """The kind and settings that `task`, `m.workflow` or `task(retries=3)` gives a function."""
        if isinstance(node, ast.Name) and node.id in self._prepared:
            return self._prepared[node.id]
        if isinstance(node, ast.Call):
            kind = _DECORATORS.get(self._names.path(node.func) or "")
            if kind is None or node.args:
                return None
            if kind == "workflow":
                return _Decoration(kind)
            return _Decoration(kind, self._retries(node), self._timeout(node))
        kind = _DECORATORS.get(self._names.path(node) or "")
        if kind is None:
            return None
        return _Decoration(kind, RETRIES_DEFAULT, TIMEOUT_DEFAULT) if kind == "task" else _Decoration(kind)

    def _retries(self, call: ast.Call) -> int | None:
        value = _setting(call, "retries", RETRIES_DEFAULT)
        if value is None or (isinstance(value, int) and 0 <= value < _INTEGER_MAX):
            return value
        self._warn("task_option", "retries: must be an integer of 0 or more", call.lineno)
        return None

    def _timeout(self, call: ast.Call) -> float | None:
        value = _setting(call, "timeout", TIMEOUT_DEFAULT)
        if value is None or 0 < value < _INTEGER_MAX:
            return value
        self._warn("task_option", "timeout: must be a number of seconds above 0", call.lineno)
        return None

    def _warn(self, kind: str, message: str, line: int | None) -> None:
        caution = Caution(kind, message, line)
        if caution not in self.cautions[-3:]:
            self.cautions.append(caution)


def _with(
    decorations: list[_Decoration],
    name: str,
    parameters: list[Parameter],
    line: int,
    is_at_module_level: bool,
    node: FunctionNode | None,
) -> Function:
    task = next((item for item in decorations if item.kind == "task"), None)
    return Function(
        name=name,
        parameters=parameters,
        is_task=task is not None,
        is_workflow=any(item.kind == "workflow" for item in decorations),
        retries=task.retries if task else None,
        timeout=task.timeout if task else None,
        line=line,
        is_at_module_level=is_at_module_level,
        node=node,
    )


def _setting(call: ast.Call, name: str, default: float) -> int | float | None:
    """A constant of a call; None if it is computed, not a number, or hidden in `**options`."""
    for keyword in call.keywords:
        if keyword.arg is None:
            return None
        if keyword.arg == name:
            return _number(keyword.value)
    return default


def _number(node: ast.expr) -> int | float | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(node.operand)
        return None if value is None else -value
    if not isinstance(node, ast.Constant) or isinstance(node.value, bool) or not isinstance(node.value, int | float):
        return None
    return node.value if isinstance(node.value, int) or math.isfinite(node.value) else None


def _parameters(arguments: ast.arguments) -> list[Parameter]:
    by_place = [*arguments.posonlyargs, *arguments.args]
    first_default = len(by_place) - len(arguments.defaults)
    parameters = [
        Parameter(
            item.arg,
            "positional_only" if index < len(arguments.posonlyargs) else "positional_or_keyword",
            index >= first_default,
        )
        for index, item in enumerate(by_place)
    ]
    if arguments.vararg:
        parameters.append(Parameter(arguments.vararg.arg, "var_positional", False))
    for item, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parameters.append(Parameter(item.arg, "keyword_only", default is not None))
    if arguments.kwarg:
        parameters.append(Parameter(arguments.kwarg.arg, "var_keyword", False))
    return parameters
