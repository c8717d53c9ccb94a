"""Runs a script up to the point where its workflow has recorded its tasks, and returns the graph; no task is
executed."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable
from typing import Any

from ..device import Device
from ..python_text import compiled, parsed
from ..refusals import JobError, Unsupported
from ..source.arguments import from_params, from_request
from ..source.user_code import guarded, is_workflow, module_of
from .graph import Graph
from .recording import UNRESOLVED, Recording
from .shared_generators import pickle_generators_by_reference
from .task_device import pickle_devices_by_reference, provide_device

_NAMES_SHOWN = 10


def capture(
    code: str,
    params: dict[str, Any],
    device: Device,
    entrypoint: str | None = None,
    arguments: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The graph of a script's only `@workflow`, or of the one that `entrypoint` names, called with the params that it
    accepts or with `arguments` {args: [...], kwargs: {...}}: {name, nodes: [{node_id, name, func_name, function, args,
    kwargs, retries, timeout_seconds, dependencies}], levels: [[node_id]], output, dot}. Nodes are `task_0001`... in the
    order of their calls; `function` is cloudpickle in base64; in args, kwargs and output {__proxy__: true, node_id}
    stands for a result, {__cloudpickle__: true, data} for a value that JSON cannot hold. Raises JobError with the
    user's line."""
    require_sdk()
    tree = parsed(code)
    module = module_of(code, params, device)
    recording = Recording()
    recording.begin()
    provide_device(device)
    pickle_devices_by_reference()
    pickle_generators_by_reference()
    program = compiled(tree)
    guarded(lambda: exec(program, module.__dict__))
    name, workflow = guarded(lambda: chosen(module.__dict__, entrypoint))
    return guarded_graph(recording, recorded(name, workflow, params, arguments))


def require_sdk() -> None:
    """Raises Unsupported where the SDK is not installed."""
    if importlib.util.find_spec("marqov") is None:
        raise Unsupported("workflows need the package 'marqov', which is not installed here (it needs Python 3.12)")


def graph_of(recording: Recording, dispatch: Any) -> dict[str, Any]:
    """The graph of one of the SDK's dispatches, as `capture` gives it. Raises JobError."""
    # A workflow that calls no task has recorded nothing.
    graph = recording.graphs.get(dispatch.graph, Graph())
    return graph.answer(dispatch, _output(dispatch))


def guarded_graph(recording: Recording, dispatch: Any) -> dict[str, Any]:
    """The same; errors name the user's line."""
    graph: dict[str, Any] = guarded(lambda: graph_of(recording, dispatch))
    return graph


def chosen(namespace: dict[str, Any], entrypoint: str | None) -> tuple[str, Callable[..., Any]]:
    """The workflow to record, and its name. Raises JobError where that is ambiguous."""
    workflows = {name: value for name, value in namespace.items() if is_workflow(value)}
    if entrypoint is not None:
        if entrypoint in workflows:
            return entrypoint, workflows[entrypoint]
        there = f"its workflows are {_listed(workflows)}" if workflows else "it has no workflow"
        raise JobError(f"the script has no workflow '{entrypoint}'; {there}")
    main = namespace.get("main")
    if callable(main) and "main" not in workflows:
        raise JobError("the script defines main(), which is what a job runs; name a workflow to see its graph")
    if not workflows:
        raise JobError("no workflow found: decorate the function that calls your tasks with @workflow")
    if len({id(value) for value in workflows.values()}) > 1:
        raise JobError(f"several workflows were found ({_listed(workflows)}); name the one that is meant")
    return next(iter(workflows.items()))


def _listed(workflows: dict[str, Any]) -> str:
    names = sorted(workflows)
    return ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")


def recorded(
    name: str, workflow: Callable[..., Any], params: dict[str, Any], arguments: dict[str, Any] | None = None
) -> Any:
    """The SDK's dispatch of a workflow that is called with the params that it accepts, or with `arguments`. Raises
    JobError."""
    from marqov.workflows.decorators import WorkflowDispatch

    if guarded(lambda: inspect.iscoroutinefunction(inspect.unwrap(workflow))):
        raise JobError(f"the workflow '{name}' is async; define it with def, its tasks may be async")
    bound = guarded(
        lambda: from_params(name, workflow, params) if arguments is None else from_request(name, workflow, arguments)
    )
    try:
        dispatch = guarded(lambda: workflow(*bound.args, **bound.kwargs))
    except JobError as error:
        if UNRESOLVED in error.message or "TaskProxy" in error.message:
            message = (
                f"the workflow '{name}' uses the result of a task, which is not known while its graph is built; decide"
                f" and compute inside a task\n{error.message}"
            )
            raise JobError(message, error.line) from None
        raise
    if not isinstance(dispatch, WorkflowDispatch):
        raise JobError(f"'{name}' is not a workflow of the package 'marqov': its call gave {type(dispatch).__name__}")
    return dispatch


def _output(dispatch: Any) -> Any:
    try:
        return dispatch.capture().output
    except (TypeError, ValueError) as error:
        raise JobError(f"what {dispatch.name}() returns cannot be a result: {error}"[:500]) from None
