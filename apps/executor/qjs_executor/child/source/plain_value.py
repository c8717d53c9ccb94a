"""Converts the return value of a `main` to values that JSON can hold."""

from __future__ import annotations

import math
from typing import Any

from ..refusals import JobError

DEPTH_MAX = 24
"""Leaves room for the levels that the messages around a value add."""

INTEGER_END = 10**4300
"""Python itself, which reads what a child sends, refuses longer ones: reading them takes quadratic time."""


def plain_value(value: Any, where: str = "main() returned", depth: int = 0) -> Any:
    """The value with numpy scalars and arrays, tuples and counters as plain numbers, lists and objects; a complex
    number is [re, im], a state or an operator of qiskit the list of its numbers. Raises JobError naming the value that
    JSON cannot hold, and its place."""
    if depth > DEPTH_MAX:
        raise JobError(f"{where}: nested deeper than {DEPTH_MAX} levels")
    if hasattr(value, "tolist") and type(value).__module__.split(".")[0] in ("numpy", "pennylane", "autograd"):
        value = value.tolist()
    elif type(value).__module__.startswith("qiskit.quantum_info.") and isinstance(numbers := _numbers(value), list):
        value = numbers
    if isinstance(value, str):
        return _text(value, where)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not -INTEGER_END < value < INTEGER_END:
            raise JobError(
                f"{where}: an integer of more than 4300 digits cannot be part of a result; return it as text"
            )
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise JobError(f"{where}: {value} is not a JSON number")
        return float(value)
    if isinstance(value, dict):
        return _plain_dict(value, where, depth)
    if isinstance(value, list | tuple):
        return [plain_value(item, f"{where}[{index}]", depth + 1) for index, item in enumerate(value)]
    if isinstance(value, complex):
        return [plain_value(part, where, depth + 1) for part in (value.real, value.imag)]
    raise JobError(f"{where}: {type(value).__name__} cannot be part of a result; return numbers, texts, lists, dicts")


def _numbers(value: Any) -> Any:
    """What a state or an operator of qiskit holds; None for any other of its classes, such as a Pauli operator."""
    data: Any = getattr(value, "data", None)
    return data.tolist() if hasattr(data, "tolist") else None


def _plain_dict(value: dict[Any, Any], where: str, depth: int) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for key, item in value.items():
        name = _key(key, where)
        if name in plain:
            raise JobError(f"{where}: two keys are written {name!r:.40} (such as 1 and '1'); only one could be kept")
        plain[name] = plain_value(item, f"{where}[{key!r:.40}]", depth + 1)
    return plain


def _text(value: str, where: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise JobError(f"{where}: the text contains a lone surrogate, which a result cannot hold; remove it") from None
    return value


def _key(key: Any, where: str) -> str:
    if isinstance(key, str):
        return _text(key, where)
    if isinstance(key, bool | int | float) or key is None:
        return str(key)
    raise JobError(f"{where}: a key of type {type(key).__name__} cannot be part of a result; use texts as keys")
