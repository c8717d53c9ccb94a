"""Turns the results of graphs into results of jobs: a script that is one workflow, a native submission, a finished
graph."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any, NoReturn

from ..refusals import JobError
from ..source.plain_value import plain_value
from ..source.user_code import guarded
from .capture import chosen, recorded
from .dispatches import Dispatches
from .values import filled, opened


def entry_dispatch(namespace: dict[str, Any], entry: dict[str, Any]) -> Any:
    """The SDK's dispatch of what a native submission calls: a workflow of the script, or a task of it as a graph of its
    own. Raises JobError."""
    name = entry["entrypoint"]
    arguments = _input(name, entry["input"])
    if entry["model"] == "native_workflow":
        _, workflow = guarded(lambda: chosen(namespace, name))
        return recorded(name, workflow, {}, arguments)
    task = namespace.get(name)
    if getattr(task, "_is_task", False) is not True or not callable(task):
        tasks = sorted(key for key, value in namespace.items() if getattr(value, "_is_task", False) is True)
        there = f"its tasks are {', '.join(tasks[:10])}" if tasks else "it has no task"
        raise JobError(f"the script has no task '{name}'; {there}")
    return recorded(name, guarded(lambda: _alone(name, task)), {}, arguments)


def _alone(name: str, task: Callable[..., Any]) -> Any:
    """A workflow that calls this task and returns what it does."""
    from marqov import workflow

    def call(*args: Any, **kwargs: Any) -> Any:
        return task(*args, **kwargs)

    # Not as its `__wrapped__`: an async task would be taken for an async workflow.
    call.__dict__["__signature__"] = inspect.signature(task)
    return workflow(name=name)(call)


def _input(name: str, text: str) -> dict[str, Any]:
    try:
        given: dict[str, Any] = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise JobError(f"input: is not JSON as it has to be: {str(error)[:200]}") from None
    shape = isinstance(given, dict) and set(given) == {"entrypoint", "args", "kwargs"}
    if not shape or not isinstance(given["args"], list) or not isinstance(given["kwargs"], dict):
        raise JobError("input: must be an object of entrypoint, args (a list) and kwargs (an object), and nothing else")
    if given["entrypoint"] != name:
        raise JobError(f"input: its entrypoint is {str(given['entrypoint'])[:80]!r}, not '{name}'")
    return given


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def workflow_answer(dispatch: Any, dispatches: Dispatches, *, asked: bool, native: bool = False) -> dict[str, Any]:
    """The answer of an execution whose result is what a workflow returns. `asked`: the caller executes its tasks, and
    another child makes the result; that of a `native` submission has a form of its own, with or without tasks."""
    graph = dispatches.graph(dispatch)
    if asked and (native or graph["nodes"]):
        return dispatches.final(graph)
    output, _ = guarded(lambda: dispatches.run(graph))
    return {"value": _plain(output, graph["name"]), "warnings": []}


def finish_answer(finish: dict[str, Any]) -> dict[str, Any]:
    """The answer of a child that builds a job's result from {name, output, values}. Raises JobError naming what cannot
    be part of it."""
    output = guarded(lambda: filled(json.loads(finish["output"]), finish["values"]))
    return {"value": _plain(output, finish["name"]), "warnings": []}


def _plain(output: Any, name: str) -> Any:
    value = guarded(lambda: opened(output))
    return guarded(lambda: plain_value(value, f"{name}() returned"))
