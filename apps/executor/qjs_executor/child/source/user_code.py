"""Runs a user's Python source top to bottom and finds what it leaves to be executed. The first rule that applies
decides: a function `main`; one `@workflow`; a call of `device.run`; a circuit at module level.
"""

from __future__ import annotations

import ast
import importlib
import linecache
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from qiskit import QuantumCircuit

from ..asks import EndOfScript
from ..circuits.openqasm import has_version_line, is_openqasm_string
from ..device import Device, DeviceRun
from ..frameworks.registry import adapter_of, watch_calls
from ..python_text import FILE_NAME, compiled, parsed
from ..refusal_hints import hint, without_paths
from ..refusals import JobError, Unsupported
from .main_function import call_main, stands_for
from .module_names import OWN_CALL, assigned_positions, not_found, without_calls_of_main

PROGRAM_NAME = "main.py"
"""The only element of `sys.argv` in a program: it has no command line, and the executor's own is not part of it."""

REGISTER_SIZE_MAX = 1_000_000
"""A register is allocated bit by bit when it joins a circuit; 10^9 bits take 20 s to exhaust the memory."""

TRACEBACK_LINES_MAX = 10
"""The most of the user's own lines that an error shows; the innermost are shown."""

NOTHING_RETURNED = (
    "main() returned nothing: return the circuit to have it run, or the values that are the result (what it printed is"
    " in stdout)"
)
DEVICE_RUN_KEPT = "main() returned nothing, so the last run on the device is the result"


_add_register = QuantumCircuit.add_register
"""Qiskit's own, however often a process replaces it."""


@dataclass(frozen=True)
class FoundValue:
    """The value that a `main` returned; it is the result."""

    value: Any
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class FoundObject:
    """A circuit object of any framework, or a text in OpenQASM; `line` is where the code assigns it, if known."""

    value: Any
    warnings: list[str] = field(default_factory=list)
    line: int | None = None


@dataclass(frozen=True)
class FoundWorkflow:
    """The module's one workflow, a function that the SDK has marked."""

    name: str
    function: Callable[..., Any]


Found = FoundValue | FoundObject | FoundWorkflow | DeviceRun


def executed(code: str, params: dict[str, Any], device: Device) -> tuple[ast.Module, dict[str, Any]]:
    """The program and the names of its module once it has run; a statement that only calls `main` is left out. Raises
    JobError with the user's own line."""
    tree = without_calls_of_main(parsed(code))
    module = module_of(code, params, device)
    program = compiled(tree)
    guarded(lambda: exec(program, module.__dict__))
    return tree, module.__dict__


def run_user_code(code: str, params: dict[str, Any], device: Device, client: Any = None) -> Found:
    """Finds what the module leaves to be executed. `params` includes `shots` and `backend`; `client` is what a `main`
    can dispatch workflows with. Raises JobError with the user's own line."""
    tree, namespace = executed(code, params, device)
    main = namespace.get("main")
    if callable(main) and not is_circuit(main):
        if OWN_CALL in namespace and stands_for(namespace[OWN_CALL], main, params):
            value = namespace[OWN_CALL]
        else:
            value = guarded(lambda: call_main(main, params, client))
        if value is None and device.last is not None:
            return replace(device.last, answer=_warned(device.last.answer, DEVICE_RUN_KEPT))
        if value is None:
            return FoundValue(None, [NOTHING_RETURNED])
        return FoundObject(value) if is_circuit(value) else FoundValue(value)
    workflows = {name: value for name, value in namespace.items() if is_workflow(value)}
    if len({id(value) for value in workflows.values()}) > 1:
        names = ", ".join(sorted(workflows))
        raise JobError(f"several workflows were found ({names}); define main() to choose the one to run")
    if workflows:
        return FoundWorkflow(*next(iter(workflows.items())))
    if device.last is not None:
        return device.last
    return _module_circuit(tree, namespace)


def circuit_left(code: str, params: dict[str, Any], device: Device) -> FoundObject | None:
    """The circuit that the module leaves; None when the module is a script, which has to be run: it has a `main` or a
    workflow, which are not called here. Raises JobError with the user's own line."""
    tree, namespace = executed(code, params, device)
    main = namespace.get("main")
    if (callable(main) and not is_circuit(main)) or any(is_workflow(value) for value in namespace.values()):
        return None
    return _module_circuit(tree, namespace)


def is_circuit(value: Any) -> bool:
    """Whether a value can be executed: a circuit object of a known framework or OpenQASM text."""
    if isinstance(value, str):
        return is_openqasm_string(value)
    return isinstance(value, QuantumCircuit) or adapter_of(value) is not None


def is_workflow(value: Any) -> bool:
    """Whether a value is a function that the SDK's `@workflow` has marked."""
    return getattr(value, "_is_workflow", False) is True and callable(value)


def guarded(action: Any) -> Any:
    """Calls user code; whatever it raises becomes a JobError that shows only the user's own lines."""
    try:
        return action()
    except MemoryError:
        raise
    except JobError as error:
        error.line = error.line or _user_line(error)
        raise
    except EndOfScript as end:
        end.error.line = end.error.line or _user_line(end)
        raise end.error from None
    except SystemExit as end:
        if end.code not in (None, 0):
            raise JobError(f"SystemExit: the code exited with {end.code!r}"[:500], _user_line(end)) from None
        return None
    except BaseException as error:
        raise JobError(_message(error), _user_line(error)) from None


@contextmanager
def lines_of(found: FoundObject) -> Iterator[None]:
    """Adds the line of the user's code to refusals of a circuit that it made. A line in an OpenQASM text that Python
    code made is not a line of the code. Changes that the code made to warnings and rounding are undone."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    except JobError as error:
        if isinstance(found.value, str) and error.line is not None:
            error.message += f" (line {error.line} of the OpenQASM text)"
            error.line = found.line
        error.line = error.line or found.line
        raise


def _module_circuit(tree: ast.Module, namespace: dict[str, Any]) -> FoundObject:
    found = {name: value for name, value in namespace.items() if not name.startswith("__") and is_circuit(value)}
    # A text without a version line may be a part from which another one is put together.
    whole = {name: value for name, value in found.items() if not isinstance(value, str) or has_version_line(value)}
    candidates = {name: value for name, value in found.items() if name in ("circuit", "qc") or name in whole} or found
    if not candidates:
        raise JobError(not_found(tree, namespace, is_circuit))
    positions, lines = assigned_positions(tree, list(candidates))
    for name in ("circuit", "qc"):
        if name in candidates:
            return FoundObject(candidates[name], [], lines[name])
    name = max(candidates, key=positions.__getitem__)
    if len({id(value) for value in candidates.values()}) == 1:
        return FoundObject(candidates[name], [], lines[name])
    others = ", ".join(sorted(set(candidates) - {name})[:5])
    warning = (
        f"several circuits were found; '{name}', assigned last, was run (not {others}): name the one you mean 'circuit'"
    )
    return FoundObject(candidates[name], [warning], lines[name])


def _warned(answer: dict[str, Any], warning: str) -> dict[str, Any]:
    return {**answer, "warnings": [*answer["warnings"], warning]}


def module_of(code: str, params: dict[str, Any], device: Device) -> types.ModuleType:
    """The module `__main__` in which the code will run, with the names that it can rely on."""
    module = types.ModuleType("__main__")
    module.__dict__.update(params=dict(params), shots=params["shots"], backend=params["backend"], device=device)
    sys.modules["__main__"] = module
    sys.argv = [PROGRAM_NAME]
    linecache.cache[FILE_NAME] = (len(code), None, code.splitlines(keepends=True), FILE_NAME)
    _bound_registers(params["backend"])
    watch_calls(code)
    if "get_device" in code:
        _give_device_to_sdk(device)
    return module


def _give_device_to_sdk(device: Device) -> None:
    """`marqov.get_device(params)` returns the job's device, however the code imports it, and refuses any other one."""
    try:
        sdk = importlib.import_module("marqov")
    except ImportError:
        return

    def get_device(params: dict[str, Any] | None = None) -> Device:
        wanted = params.get("backend") if isinstance(params, dict) else None
        if wanted is not None and wanted != device.backend:
            raise JobError(
                f"get_device: the backend {str(wanted)[:80]!r} is not the job's, which is '{device.backend}'; pass the"
                f" job's params, or submit the job to {str(wanted)[:80]!r}"
            )
        return device

    sdk.__dict__["get_device"] = get_device
    sdk.device.__dict__["get_device"] = get_device


def _bound_registers(backend: str) -> None:
    """Refuses a register that no backend could hold, when a circuit would allocate it."""

    def checked(self: QuantumCircuit, *registers: Any) -> None:
        for register in registers:
            size = register if isinstance(register, int) else getattr(register, "size", 0)
            if size > REGISTER_SIZE_MAX:
                raise Unsupported(f"circuit needs a register of {size} bits, more than {backend} has")
        _add_register(self, *registers)

    QuantumCircuit.add_register = checked


def _message(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException:
        text = "(its message cannot be shown)"
    name = type(error).__name__
    message = without_paths(f"{name}: {text}" if text else name)[:2000] + hint(error, text)
    lines = _user_lines(error)
    if len(lines) < 2:
        return message
    return "\n  ".join([message, *lines[-TRACEBACK_LINES_MAX:]])


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
