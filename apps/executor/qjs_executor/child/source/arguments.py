"""Binds a job's params, or the arguments of a request, to the parameters of a user's function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..refusals import JobError

SERVICE_NAMES = frozenset({"shots", "backend", "circuit_count"})
"""Parameters that every job has; a function that does not accept them is called without them."""
_BY_PLACE = inspect.Parameter.POSITIONAL_ONLY
_NAMED = (_BY_PLACE, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def from_params(name: str, function: Callable[..., Any], params: dict[str, Any]) -> inspect.BoundArguments:
    """The params that the function accepts, without `shots` and `backend` where it does not accept them. Raises
    JobError for any other param that it does not accept, and for one that it needs and that is missing."""
    signature = inspect.signature(function)
    parameters = [item for item in signature.parameters.values() if item.kind in _NAMED]
    accepted = [parameter.name for parameter in parameters]
    takes_all = any(item.kind is inspect.Parameter.VAR_KEYWORD for item in signature.parameters.values())
    for given in params:
        if given not in accepted and given not in SERVICE_NAMES and not takes_all:
            raise JobError(f"{name}() does not accept '{given}'; it accepts {', '.join(accepted) or 'nothing'}")
    for parameter in parameters:
        if parameter.default is inspect.Parameter.empty and parameter.name not in params:
            raise JobError(f"{name}() needs '{parameter.name}', which is not among the job's params")
    by_place = [params.get(item.name, item.default) for item in parameters if item.kind is _BY_PLACE]
    placed = set(accepted[: len(by_place)])
    named = {key: value for key, value in params.items() if key not in placed and (takes_all or key in accepted)}
    return _bound(name, signature, by_place, named)


def from_request(name: str, function: Callable[..., Any], arguments: dict[str, Any]) -> inspect.BoundArguments:
    """The arguments {args: [...], kwargs: {...}}. Raises JobError where they do not fit."""
    return _bound(name, inspect.signature(function), arguments["args"], arguments["kwargs"])


def _bound(name: str, signature: inspect.Signature, args: list[Any], kwargs: dict[str, Any]) -> inspect.BoundArguments:
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        raise JobError(f"{name}{signature}: {error}"[:500]) from None
