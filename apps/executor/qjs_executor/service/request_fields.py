"""Parsers for the parts of a request's body: each returns a value that later code can trust, or reports where the
request is wrong, what is expected there, and what was received."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from ..protocol.strict_json import NotStrictJson, parse_object_aside


class InvalidRequest(Exception):
    """The request cannot become a job; the message says where, what and how to fix it."""


async def request_object(body: bytes) -> dict[str, Any]:
    """The body as a JSON object whose strings a database can hold. Raises InvalidRequest."""
    try:
        request = await parse_object_aside(body)
    except NotStrictJson as error:
        raise InvalidRequest(f"body: must be a JSON object ({error})") from None
    _check_strings(request)
    return request


def _check_strings(root: dict[str, Any]) -> None:
    """Checks that every string, keys included, is text that a database can hold. Walks without recursion."""
    waiting: list[tuple[Any, str]] = [(root, "")]
    while waiting:
        value, where = waiting.pop()
        if isinstance(value, str):
            if "\0" in value:
                raise InvalidRequest(f"{where}: contains a NUL character; remove it")
            try:
                value.encode("utf-8")
            except UnicodeEncodeError:
                raise InvalidRequest(f"{where}: contains a lone surrogate, which is not text; remove it") from None
        elif isinstance(value, dict):
            for key, item in value.items():
                waiting.append((key, f"{where or 'body'} (a key)"))
                waiting.append((item, f"{where}.{key[:40]}" if where else key[:40]))
        elif isinstance(value, list):
            waiting.extend((item, f"{where}[{index}]") for index, item in enumerate(value))


def text_of(value: Any, where: str, length_max: int) -> str:
    """A text of 1 to `length_max` characters. Raises InvalidRequest."""
    if not isinstance(value, str) or not 1 <= len(value) <= length_max:
        refuse(where, f"must be a text of 1 to {length_max} characters", value)
    return value


def integer_of(value: Any, where: str, low: int, high: int) -> int:
    """An integer within its range. Raises InvalidRequest."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        refuse(where, f"must be an integer from {low} to {high}", value)
    return value


def number_of(value: Any, where: str, low: float, high: float) -> float:
    """A number within its range. Raises InvalidRequest."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
        refuse(where, f"must be a number from {low} to {high}", value)
    return float(value)


def object_of(value: Any, where: str, keys: tuple[str, ...]) -> dict[str, Any]:
    """An object with exactly these keys. Raises InvalidRequest."""
    if not isinstance(value, dict) or set(value) != set(keys):
        got = sorted(value) if isinstance(value, dict) else value
        refuse(where, f"must be an object with {', '.join(keys)} and nothing else", got)
    return value


def refuse(where: str, rule: str, got: Any) -> NoReturn:
    """Raises InvalidRequest with the place, what is expected there, and what was received."""
    shown = f"a text of {len(got)} characters" if isinstance(got, str) and len(got) > 60 else json.dumps(got)[:80]
    raise InvalidRequest(f"{where}: {rule} (got {shown})")
