"""Parses JSON from an untrusted side. It refuses NaN, numbers beyond a double's range and deep nesting."""

from __future__ import annotations

import asyncio
import json
import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

DEPTH_MAX = 32
"""Deeper values have no use here and exhaust recursive readers."""

_LARGE_BYTES = 1024 * 1024
_aside = ThreadPoolExecutor(1, thread_name_prefix="json")
"""One thread: the process may start only few, and parsing shares the interpreter with the event loop anyway."""


class NotStrictJson(ValueError):
    """The bytes are not JSON that this service accepts."""


def parse_object(body: bytes) -> dict[str, Any]:
    """The JSON object in `body` (UTF-8). Raises NotStrictJson with the reason."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotStrictJson(str(error)[:200]) from None
    value = parse_any(text)
    if not isinstance(value, dict):
        raise NotStrictJson("not an object")
    return value


def parse_any(text: str) -> Any:
    """The JSON value in `text`. Raises NotStrictJson with the reason."""
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise NotStrictJson(str(error)[:200] if isinstance(error, ValueError) else "nested too deeply") from None
    if _is_deep(value):
        raise NotStrictJson(f"nested deeper than {DEPTH_MAX} levels")
    return value


async def parse_object_aside(body: bytes) -> dict[str, Any]:
    """`parse_object`; a large body is parsed in a thread, so that the event loop continues."""
    if len(body) <= _LARGE_BYTES:
        return parse_object(body)
    return await asyncio.get_running_loop().run_in_executor(_aside, parse_object, body)


def _is_deep(root: Any) -> bool:
    level: list[Any] = [root]
    for _ in range(DEPTH_MAX):
        level = [
            item
            for value in level
            if isinstance(value, (dict, list))
            for item in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return False
    return True


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"number {text[:40]} is too large")
    return value
