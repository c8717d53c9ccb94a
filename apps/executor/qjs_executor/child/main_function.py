"""Calls a user's `main` with what it accepts."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from .refusals import JobError, Unsupported

SERVICE_NAMES = frozenset({"shots", "backend"})
"""Parameters that every job has; a `main` that does not ask for them is called without them."""

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class DispatchClient:
    """The client that `main(client, params)` gets; this version has no task graphs to dispatch to."""

    async def start_workflow(self, *_: Any, **__: Any) -> Any:
        """Refuses the dispatch by name."""
        raise Unsupported("dispatching a workflow from main() is not available in this version; call its tasks instead")

    def get_workflow_handle(self, *_: Any, **__: Any) -> Any:
        """Refuses like `start_workflow`."""
        raise Unsupported("dispatching a workflow from main() is not available in this version; call its tasks instead")


def call_main(main: Callable[..., Any], params: dict[str, Any]) -> Any:
    """What `main` returns, awaited if need be. Called with `(client, params)` if its first two parameters have these
    names, else with the parameters that it accepts by name. Raises JobError for one that it lacks or misses."""
    signature = inspect.signature(main)
    if [*signature.parameters][:2] == ["client", "params"]:
        result = main(DispatchClient(), dict(params))
    else:
        result = main(**_arguments(signature, params))
    if inspect.isawaitable(result):
        return asyncio.run(_awaited(result))
    return result


async def _awaited(value: Any) -> Any:
    return await value


def _arguments(signature: inspect.Signature, params: dict[str, Any]) -> dict[str, Any]:
    parameters = signature.parameters.values()
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return dict(params)
    accepted = [parameter.name for parameter in parameters if parameter.kind in _NAMED]
    for name in params:
        if name not in accepted and name not in SERVICE_NAMES:
            raise JobError(f"main() does not accept '{name}'; it accepts {', '.join(accepted) or 'nothing'}")
    for parameter in parameters:
        if parameter.default is inspect.Parameter.empty and parameter.kind in _NAMED and parameter.name not in params:
            raise JobError(f"main() needs '{parameter.name}', which is not among the job's params")
    return {name: value for name, value in params.items() if name in accepted}
