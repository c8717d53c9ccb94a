"""Calls a user's `main` with what it accepts."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from .arguments import from_params
from .refusals import Unsupported


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
        bound = from_params("main", main, params)
        result = main(*bound.args, **bound.kwargs)
    if inspect.isawaitable(result):
        return asyncio.run(_awaited(result))
    return result


async def _awaited(value: Any) -> Any:
    return await value
