"""Calls a user's `main` with the arguments that it accepts."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from .arguments import SERVICE_NAMES, from_params


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


def stands_for(own: Any, main: Callable[..., Any], params: dict[str, Any]) -> bool:
    """Whether `own`, the value of the program's own call of `main` with arguments, is the one to use: the job gives
    `main` nothing, neither a parameter nor shots or backend for all that it requires. The program then does what it
    would do as a script."""
    parameters = inspect.signature(main).parameters
    if inspect.isawaitable(own) or set(params) - SERVICE_NAMES or [*parameters][:2] == ["client", "params"]:
        return False
    required = {name for name, item in parameters.items() if item.default is inspect.Parameter.empty}
    return not required <= set(params) or SERVICE_NAMES.isdisjoint(parameters)


async def _awaited(value: Any) -> Any:
    return await value
