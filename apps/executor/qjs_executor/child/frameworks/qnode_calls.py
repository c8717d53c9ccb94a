"""Records how a program uses its QNodes: the arguments of the last call of each, and the lines that queue
operations."""

from __future__ import annotations

import copy
import functools
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakKeyDictionary

import pennylane as qml
from autograd.tracer import Box
from pennylane.queuing import AnnotatedQueue

from ..python_text import FILE_NAME
from ..refusals import Unsupported

_Call = tuple[tuple[Any, ...], dict[str, Any]]
_calls: WeakKeyDictionary[Any, _Call | None] = WeakKeyDictionary()
"""The last call of each QNode, and of each function by whatever QNode; None for arguments that cannot be kept as they
were."""
_ARGUMENTS_SHOWN = 200


def remember_calls() -> None:
    """Stores every later call of a QNode with copies of its arguments."""
    call = qml.QNode.__call__
    if getattr(call, "remembers", False):
        return

    @functools.wraps(call)
    def remembering(self: qml.QNode, *args: Any, **kwargs: Any) -> Any:
        kept: _Call | None = None
        with suppress(Exception):  # An argument of the user's own class may do anything when it is copied.
            kept = (_kept(args), {name: _kept(item) for name, item in kwargs.items()})
        result = call(self, *args, **kwargs)
        _calls[self] = kept
        with suppress(TypeError):  # Not every callable can be referred to weakly.
            _calls[self.func] = kept
        return result

    remembering.remembers = True  # type: ignore[attr-defined]
    qml.QNode.__call__ = remembering


def _kept(value: Any) -> Any:
    """A copy that later changes do not affect, of the number itself when it is being differentiated."""
    while isinstance(value, Box):
        value = value._value
    if type(value) in (list, tuple):
        return type(value)(_kept(item) for item in value)
    if type(value) is dict:
        return {name: _kept(item) for name, item in value.items()}
    return copy.deepcopy(value)


def arguments_of(node: qml.QNode, name: str, warnings: list[str]) -> _Call:
    """The arguments for calling a QNode's function: those of its last call, or none. Raises Unsupported when it was not
    called and needs some."""
    # A copy made by `qml.set_shots` or a transform runs the same function.
    call = _calls[node] if node in _calls else _last_of(node.func)
    parameters = inspect.signature(node.func).parameters
    if call is None:
        raise Unsupported(
            f"QNode '{name}' was called with arguments that cannot be copied; give its parameters defaults"
        )
    args, kwargs = call
    if "shots" not in parameters:
        # A call may set the shots; those of the job are meant.
        kwargs = {key: item for key, item in kwargs.items() if key != "shots"}
    if args or kwargs:
        given = [repr(item) for item in args] + [f"{key}={item!r}" for key, item in kwargs.items()]
        shown = " ".join(", ".join(given).split())
        shown = shown if len(shown) <= _ARGUMENTS_SHOWN else shown[:_ARGUMENTS_SHOWN] + "..."
        warnings.append(f"QNode '{name}' was run with the arguments of its last call: {name}({shown})")
        return args, kwargs
    kinds = inspect.Parameter
    missing = [
        key
        for key, parameter in parameters.items()
        if parameter.default is kinds.empty and parameter.kind not in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)
    ]
    if missing:
        raise Unsupported(
            f"QNode '{name}' needs values for {', '.join(missing)}: call it with them, for example"
            f" {name}({', '.join(missing)}), or give the parameters defaults"
        )
    return (), {}


def _last_of(function: Any) -> _Call | None:
    try:
        return _calls.get(function, ((), {}))
    except TypeError:
        return (), {}


@contextmanager
def recorded_lines() -> Iterator[dict[int, int]]:
    """The lines of the user's code on which the operations that are queued inside came to be, by id."""
    lines: dict[int, int] = {}
    alive = []
    append = AnnotatedQueue.append

    def recording(self: AnnotatedQueue, operation: Any, **kwargs: Any) -> None:
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != FILE_NAME:
            frame = frame.f_back  # type: ignore[assignment]
        if frame is not None:
            # An id is reused after an object is freed.
            alive.append(operation)
            lines[id(operation)] = frame.f_lineno
        append(self, operation, **kwargs)

    AnnotatedQueue.append = recording
    try:
        yield lines
    finally:
        AnnotatedQueue.append = append
