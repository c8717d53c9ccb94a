"""Executes one task of a graph."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..refusals import JobError
from ..source.plain_value import plain_value
from ..source.user_code import guarded
from .values import MIB, encoded, filled, opened, unpickled

DISPLAY_BYTES_MAX = 3 * MIB
"""A larger value would not help people; the result contains it in any case."""


@dataclass(frozen=True)
class TaskCall:
    """A task with its arguments; `function` is cloudpickle in base64, `arguments` {args, kwargs} with references."""

    name: str
    function: str
    args: list[Any]
    kwargs: dict[str, Any]

    def returned(self, values: Mapping[str, str]) -> Any:
        """What the task returns; `values` are the encoded results that it refers to. Raises JobError with the user's
        line."""
        function = guarded(lambda: unpickled(self.function))
        args = guarded(lambda: opened(filled(self.args, values)))
        kwargs = guarded(lambda: opened(filled(self.kwargs, values)))
        return guarded(lambda: _called(function, args, kwargs))


def task_answer(task: dict[str, Any]) -> dict[str, Any]:
    """The answer of a child that executes one task {name, function, arguments, values}: {result, display,
    display_problem}."""
    given = json.loads(task["arguments"])
    call = TaskCall(task["name"], task["function"], given["args"], given["kwargs"])
    value = call.returned(task["values"])
    where = f"{call.name}() returned"
    # This comes last, so that the value's own code cannot change the stored result.
    text = guarded(lambda: encoded(value, where))
    display, problem = _display(value, where)
    return {"result": text, "display": display, "display_problem": problem}


def _called(function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    # A task that calls asyncio.run itself may be executed while a loop of the script's own is suspended.
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        value = function(*args, **kwargs)
        return asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value
    except SystemExit as end:
        if end.code in (None, 0):
            error = JobError("the task ended with SystemExit before it returned; return its result instead")
            raise error.with_traceback(end.__traceback__) from None
        raise
    finally:
        asyncio._set_running_loop(loop)


async def _awaited(value: Any) -> Any:
    return await value


def _display(value: Any, where: str) -> tuple[str | None, str | None]:
    """The value for people, as JSON text, or the reason why there is none."""
    try:
        plain = guarded(lambda: plain_value(value, where))
        text = json.dumps(plain, allow_nan=False, separators=(",", ":"))
    except JobError as error:
        return None, error.message[:500]
    if len(text) > DISPLAY_BYTES_MAX:
        return None, f"{where} a value of {len(text) / MIB:.1f} MiB, too large to be shown"
    return text, None
