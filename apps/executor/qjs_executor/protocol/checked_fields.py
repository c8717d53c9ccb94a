"""Checks single fields of what a child reports: each is only a claim."""

from __future__ import annotations

import json
import math
from typing import Any

from ..printed_text import plain

MESSAGE_BYTES_MAX = 4 * 1024
VALUES_MAX = 200_000
"""Values of a message besides the one that a `main` returned: counts are the most numerous."""


class BadAnswer(Exception):
    """The answer breaks its schema; the message says where."""


def small(value: Any, where: str, bytes_max: int) -> Any:
    """The value, if its JSON text has at most `bytes_max` bytes. Raises BadAnswer."""
    try:
        size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8"))
    except UnicodeEncodeError:
        raise BadAnswer(f"{where}: a lone surrogate") from None
    if size > bytes_max:
        raise BadAnswer(where)
    return value


def count_values(root: Any) -> int:
    """How many values there are in a JSON value, counted up to the first level that exceeds VALUES_MAX. The depth is
    bounded already."""
    count, level = 0, [root]
    while level and count <= VALUES_MAX:
        count += len(level)
        level = [
            item
            for value in level
            if isinstance(value, (dict, list))
            for item in (value.values() if isinstance(value, dict) else value)
        ]
    return count


def double(value: Any, where: str) -> float:
    """A number that a double holds, as one: JSON also has longer integers. Raises BadAnswer."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadAnswer(where)
    try:
        number = float(value)
    except OverflowError:
        raise BadAnswer(where) from None
    if not math.isfinite(number):
        raise BadAnswer(where)
    return number


def shortened(message: str) -> str:
    """An error message within its byte limit, cut at a character."""
    data = plain(message).encode("utf-8")
    if len(data) <= MESSAGE_BYTES_MAX:
        return data.decode("utf-8")
    return data[: MESSAGE_BYTES_MAX - 3].decode("utf-8", "ignore") + "..."


def text(value: Any, where: str, length_max: int) -> str:
    """A string field, made plain. Raises BadAnswer."""
    if not isinstance(value, str) or len(value) > length_max:
        raise BadAnswer(where)
    return plain(value)


def listed(answer: dict[str, Any], name: str, length_max: int) -> list[Any]:
    """The member of this name, a list of at most `most` items. Raises BadAnswer."""
    value = answer.get(name)
    if not isinstance(value, list) or len(value) > length_max:
        raise BadAnswer(name)
    return value


def integer(value: Any, where: str, low: int, high: int) -> int:
    """An integer field within its range. Raises BadAnswer."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise BadAnswer(where)
    return value


def value_of(item: Any) -> dict[str, Any]:
    """A value with its standard error, which is None for one shot. Raises BadAnswer."""
    if not isinstance(item, dict):
        raise BadAnswer("expectation_values")
    error = item.get("standard_error")
    return {
        "value": double(item.get("value"), "expectation_values: value"),
        "standard_error": None if error is None else double(error, "expectation_values: standard_error"),
    }
