"""Runs a user's Python source top to bottom and finds what it leaves to be run.

The first rule that applies: a function `main`; one `@workflow`; a call of `device.run`; a circuit at module level.
"""

from __future__ import annotations

import ast
import importlib
import linecache
import sys
import types
from dataclasses import dataclass, field
from typing import Any

from qiskit import QuantumCircuit

from .circuits.openqasm import is_openqasm
from .device import Device, DeviceRun
from .frameworks.registry import adapter_of
from .main_function import call_main
from .python_text import parsed
from .refusals import JobError, Unsupported

FILE_NAME = "<job>"
"""How the user's source is called in tracebacks."""

REGISTER_SIZE_MAX = 1_000_000
"""A register is allocated bit by bit when it joins a circuit; 10^9 bits take 20 s to exhaust the memory."""

TRACEBACK_LINES_MAX = 10
"""Of the user's own lines on the way to an error; the innermost are shown."""

NOT_FOUND = (
    "No circuit found: assign your circuit to a variable named 'circuit'"
    " (frameworks: qiskit, cirq, pennylane, openqasm, marqov)."
)


@dataclass(frozen=True)
class FoundValue:
    """What a `main` returned; it is the result as it is."""

    value: Any
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class FoundObject:
    """A circuit object of any framework, or a text in OpenQASM."""

    value: Any
    warnings: list[str] = field(default_factory=list)


def run_user_code(code: str, params: dict[str, Any], device: Device) -> FoundValue | FoundObject | DeviceRun:
    """What the module leaves to be run. `params` holds `shots` and `backend` too. Raises JobError with the user's own
    line."""
    tree = parsed(code, FILE_NAME)
    module = _module(code, params, device)
    guarded(lambda: exec(compile(tree, FILE_NAME, "exec", dont_inherit=True), module.__dict__))
    namespace = module.__dict__
    main = namespace.get("main")
    if callable(main) and not is_circuit(main):
        value = guarded(lambda: call_main(main, params))
        return FoundObject(value) if is_circuit(value) else FoundValue(value)
    _refuse_workflows(namespace)
    if device.last is not None:
        return device.last
    return _module_circuit(tree, namespace)


def is_circuit(value: Any) -> bool:
    """Whether a value is something that can be run: a circuit object of a known framework or OpenQASM text."""
    if isinstance(value, str):
        return is_openqasm(value)
    return isinstance(value, QuantumCircuit) or adapter_of(value) is not None


def guarded(action: Any) -> Any:
    """Calls user code; whatever it raises becomes a JobError that shows the user's own lines and nothing else."""
    try:
        return action()
    except (MemoryError, JobError):
        raise
    except SystemExit as end:
        if end.code not in (None, 0):
            raise JobError(f"SystemExit: the code exited with {end.code!r}"[:500], _user_line(end)) from None
        return None
    except BaseException as error:
        raise JobError(_message(error), _user_line(error)) from None


def _refuse_workflows(namespace: dict[str, Any]) -> None:
    workflows = sorted(
        name for name, value in namespace.items() if getattr(value, "_is_workflow", False) is True and callable(value)
    )
    if len(workflows) > 1:
        raise JobError(f"several workflows were found ({', '.join(workflows)}); define main() to say which one is run")
    if workflows:
        raise Unsupported(
            f"the workflow '{workflows[0]}': task graphs are not available in this version; call its tasks from main()"
        )


def _module_circuit(tree: ast.Module, namespace: dict[str, Any]) -> FoundObject:
    for name in ("circuit", "qc"):
        if is_circuit(namespace.get(name)):
            return FoundObject(namespace[name])
    candidates = {name: value for name, value in namespace.items() if not name.startswith("__") and is_circuit(value)}
    if not candidates:
        raise JobError(NOT_FOUND)
    if len({id(value) for value in candidates.values()}) == 1:
        return FoundObject(next(iter(candidates.values())))
    name = max(candidates, key=_last_assignments(tree, list(candidates)).__getitem__)
    others = ", ".join(sorted(set(candidates) - {name})[:5])
    return FoundObject(
        candidates[name],
        [
            f"several circuits were found; '{name}', assigned last, was run (not {others}):"
            " name the one you mean 'circuit'"
        ],
    )


def _module_statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements that run at module level, also inside if, for, while, with and try, in order."""
    found: list[ast.stmt] = []
    for statement in body:
        found.append(statement)
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for part in ("body", "orelse", "finalbody"):
            found += _module_statements(getattr(statement, part, []))
        for handler in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
            found += _module_statements(handler.body)
    return found


def _last_assignments(tree: ast.Module, names: list[str]) -> dict[str, int]:
    """For each name the position of its last assignment at module level; -1 when it is set in another way."""
    last = dict.fromkeys(names, -1)
    for position, statement in enumerate(_module_statements(tree.body)):
        if isinstance(statement, ast.FunctionDef) and statement.name in last:
            last[statement.name] = position
        targets = [statement] if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For) else []
        for target in targets:
            stored = target.targets if isinstance(target, ast.Assign) else [target.target]
            for node in (inner for item in stored for inner in ast.walk(item)):
                if isinstance(node, ast.Name) and node.id in last:
                    last[node.id] = position
    return last


def _module(code: str, params: dict[str, Any], device: Device) -> types.ModuleType:
    """The module `__main__` in which the code will run, with the names that it may count on."""
    module = types.ModuleType("__main__")
    module.__dict__.update(params=dict(params), shots=params["shots"], backend=params["backend"], device=device)
    sys.modules["__main__"] = module
    linecache.cache[FILE_NAME] = (len(code), None, code.splitlines(keepends=True), FILE_NAME)
    _bound_registers(params["backend"])
    if "get_device" in code:
        _give_device_to_sdk(device)
    return module


def _give_device_to_sdk(device: Device) -> None:
    """`marqov.get_device(params)` answers the job's device, however the code imports it."""
    try:
        sdk = importlib.import_module("marqov")
    except ImportError:
        return

    def get_device(params: dict[str, Any] | None = None) -> Device:  # noqa: ARG001
        return device

    sdk.__dict__["get_device"] = get_device
    sdk.device.__dict__["get_device"] = get_device


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
    message = f"{name}: {text}" if text else name
    lines = _user_lines(error)
    if len(lines) < 2:
        return message
    return "\n  ".join([message[:2000], *lines[-TRACEBACK_LINES_MAX:]])


def _user_lines(error: BaseException) -> list[str]:
    """The user's own lines on the way to an error, outermost first."""
    lines: list[str] = []
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if code.co_filename == FILE_NAME:
            within = "" if code.co_name == "<module>" else f", in {code.co_name}"
            lines.append(f"line {step.tb_lineno}{within}: {linecache.getline(FILE_NAME, step.tb_lineno).strip()[:200]}")
        step = step.tb_next
    return lines


def _user_line(error: BaseException) -> int | None:
    """The innermost line of the user's own source on the way to an error."""
    line = None
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == FILE_NAME:
            line = step.tb_lineno
        step = step.tb_next
    return line
