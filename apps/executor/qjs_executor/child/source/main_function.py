"""Calls a user's `main` with the arguments that it accepts."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from .arguments import from_params


def call_main(main: Callable[..., Any], params: dict[str, Any], client: Any) -> Any:
    """What `main` returns, awaited if it is awaitable. Called with `(client, params)` if its first two parameters have
    these names, else with the parameters that it accepts by name. Raises JobError for one that it does not accept or
    that is missing."""
    signature = inspect.signature(main)
    if [*signature.parameters][:2] == ["client", "params"]:
        result = main(client, dict(params))
    else:
        bound = from_params("main", main, params)
        result = main(*bound.args, **bound.kwargs)
    if inspect.isawaitable(result):
        return asyncio.run(_awaited(result))
    return result


async def _awaited(value: Any) -> Any:
    return await value
