"""JSON from a side that is not trusted: no NaN, no number beyond a double's range, no deep nesting."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

DEPTH_MAX = 32
"""Deeper values have no use here and exhaust recursive readers further on."""


class NotStrictJson(ValueError):
    """The bytes are not JSON as this service accepts it."""


def parse_object(body: bytes) -> dict[str, Any]:
    """The JSON object in `body` (UTF-8). Raises NotStrictJson with the reason."""
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise NotStrictJson(str(error)[:200] if isinstance(error, ValueError) else "nested too deeply") from None
    if not isinstance(value, dict):
        raise NotStrictJson("not an object")
    if _is_deep(value):
        raise NotStrictJson(f"nested deeper than {DEPTH_MAX} levels")
    return value


def _is_deep(root: dict[str, Any]) -> bool:
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
