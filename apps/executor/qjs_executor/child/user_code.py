"""Runs a user's Python source top to bottom and finds the circuit that it leaves behind."""

from __future__ import annotations

import ast
import linecache
import sys
import types
from typing import Any

from qiskit import QuantumCircuit

from .circuits.openqasm import is_openqasm
from .refusals import JobError, Unsupported

FILE_NAME = "<job>"
"""How the user's source is called in tracebacks."""

REGISTER_SIZE_MAX = 1_000_000
"""A register is allocated bit by bit when it joins a circuit; 10^9 bits take 20 s to exhaust the memory."""

NOT_FOUND = "No circuit found: assign your circuit to a variable named 'circuit' (frameworks: qiskit, openqasm)."


def find_circuit(code: str, params: dict[str, Any], shots: int, backend: str) -> tuple[QuantumCircuit | str, list[str]]:
    """The circuit (or OpenQASM text) of a module, and warnings about the choice: the variable `circuit`, else `qc`,
    else the only circuit, else the one assigned last. Raises JobError with the user's own line."""
    tree = _parsed(code)
    _refuse_later_forms(tree)
    namespace = _run(tree, code, {"params": dict(params), "shots": shots, "backend": backend})
    if callable(namespace.get("main")):
        raise Unsupported(_later("a function named 'main'"))
    for name in ("circuit", "qc"):
        if _is_circuit(namespace.get(name)):
            return namespace[name], []
    candidates = {name: value for name, value in namespace.items() if _is_circuit(value)}
    if not candidates:
        raise JobError(NOT_FOUND)
    if len({id(value) for value in candidates.values()}) == 1:
        return next(iter(candidates.values())), []
    name = max(candidates, key=_last_assignments(tree, list(candidates)).__getitem__)
    others = ", ".join(sorted(set(candidates) - {name})[:5])
    return candidates[name], [
        f"several circuits were found; '{name}', assigned last, was run (not {others}): name the one you mean 'circuit'"
    ]


def _is_circuit(value: Any) -> bool:
    return isinstance(value, QuantumCircuit) or (isinstance(value, str) and is_openqasm(value))


def _parsed(code: str) -> ast.Module:
    try:
        return ast.parse(code, FILE_NAME)
    except SyntaxError as error:
        raise JobError(f"{type(error).__name__}: {error.msg}", error.lineno) from None
    except (RecursionError, MemoryError):
        raise JobError("SyntaxError: the code is nested too deeply") from None
    except ValueError as error:
        raise JobError(f"SyntaxError: {error}") from None


def _refuse_later_forms(tree: ast.Module) -> None:
    """Forms that mean something else than a module-level circuit; running them as one would be a wrong answer."""
    stored: set[str] = set()
    device: ast.Name | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            stored.add(node.name)
            for decorator in node.decorator_list:
                target = decorator.func if isinstance(decorator, ast.Call) else decorator
                name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
                if name == "workflow":
                    raise Unsupported(_later("@workflow"), node.lineno)
        elif isinstance(node, ast.ClassDef):
            stored.add(node.name)
        elif isinstance(node, ast.arg):
            stored.add(node.arg)
        elif isinstance(node, ast.alias):
            stored.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            stored.add(node.id)
        elif isinstance(node, ast.Name) and node.id == "device" and device is None:
            device = node
    for statement in _module_statements(tree.body):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and statement.name == "main":
            raise Unsupported(_later("a function named 'main'"), statement.lineno)
    if device is not None and "device" not in stored:
        raise Unsupported(_later("the predefined 'device'"), device.lineno)


def _later(what: str) -> str:
    return (
        f"{what} is not available in this version: build the circuit at module level and assign it to a variable named"
        " 'circuit'"
    )


def _module_statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements that run at module level, also inside if, for, while, with and try, in order."""
    found: list[ast.stmt] = []
    for statement in body:
        found.append(statement)
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for field in ("body", "orelse", "finalbody"):
            found += _module_statements(getattr(statement, field, []))
        for handler in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
            found += _module_statements(handler.body)
    return found


def _last_assignments(tree: ast.Module, names: list[str]) -> dict[str, int]:
    """For each name the position of its last assignment at module level; -1 when it is set in another way."""
    last = dict.fromkeys(names, -1)
    for position, statement in enumerate(_module_statements(tree.body)):
        targets = [statement] if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For) else []
        for target in targets:
            stored = target.targets if isinstance(target, ast.Assign) else [target.target]
            for node in (inner for item in stored for inner in ast.walk(item)):
                if isinstance(node, ast.Name) and node.id in last:
                    last[node.id] = position
    return last


def _run(tree: ast.Module, code: str, predefined: dict[str, Any]) -> dict[str, Any]:
    """Executes the module under the name `__main__` and answers its namespace."""
    module = types.ModuleType("__main__")
    module.__dict__.update(predefined)
    sys.modules["__main__"] = module
    linecache.cache[FILE_NAME] = (len(code), None, code.splitlines(keepends=True), FILE_NAME)
    _bound_registers(predefined["backend"])
    try:
        exec(compile(tree, FILE_NAME, "exec", dont_inherit=True), module.__dict__)
    except (MemoryError, JobError):
        raise
    except SystemExit as end:
        if end.code not in (None, 0):
            raise JobError(f"SystemExit: the code exited with {end.code!r}"[:500], _user_line(end)) from None
    except BaseException as error:
        raise JobError(_message(error), _user_line(error)) from None
    return module.__dict__


def _bound_registers(backend: str) -> None:
    """Refuses a register that no backend could hold at the moment a circuit would allocate it."""
    add_register = QuantumCircuit.add_register

    def checked(self: QuantumCircuit, *registers: Any) -> None:
        for register in registers:
            size = register if isinstance(register, int) else getattr(register, "size", 0)
            if size > REGISTER_SIZE_MAX:
                raise Unsupported(f"circuit needs a register of {size} bits, more than {backend} has")
        add_register(self, *registers)

    QuantumCircuit.add_register = checked


def _message(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:
        text = "(its message cannot be shown)"
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def _user_line(error: BaseException) -> int | None:
    """The innermost line of the user's own source on the way to an error."""
    line = None
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == FILE_NAME:
            line = step.tb_lineno
        step = step.tb_next
    return line
