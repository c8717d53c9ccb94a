"""Decides which of a task's arguments are sent as JSON, and which in the SDK's envelope for pickled values."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Mapping
from typing import Any

from ..refusals import JobError

DEPTH_MAX = 16
"""Levels of lists and dicts within one argument that are sent as JSON; deeper values are pickled. Readers of the answer
accept 32, and the graph around an argument adds some."""
INTEGER_BITS_MAX = 14_000
"""About 4,200 decimal digits; Python's JSON neither writes nor reads more than 4,300."""

PROXY = "__proxy__"
PICKLED = "__cloudpickle__"

MADE_INTO_TEXT = (
    "a task result was made into text, but it is not known while the graph is built; make the text inside a task"
)

_NODE_ID = re.compile(r"[0-9a-f]{32}")


def is_storable(text: str) -> bool:
    """Whether a database and a UTF-8 stream can hold the text: no NUL, no lone surrogate."""
    if "\0" in text:
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def names_result(text: str, ids: Mapping[str, str]) -> bool:
    """Whether a text holds the placeholder of a result, as `f"{result}"` does."""
    return "TaskProxy(" in text and any(found in ids for found in _NODE_ID.findall(text))


def reference(task_id: str) -> dict[str, Any]:
    """The placeholder of a task's result."""
    return {PROXY: True, "node_id": task_id}


class ArgumentEncoder:
    """Encodes the arguments of one graph as the SDK sends them, with our own ids and nothing inexact: a value that
    JSON, or this service's reading of it, would change is sent pickled."""

    def __init__(self, ids: dict[str, str]) -> None:
        self._ids = ids

    def encoded(self, node: Any) -> tuple[list[Any], dict[str, Any]]:
        """Positional and keyword arguments of an SDK node. Raises JobError for what cannot be sent; its message names
        the task and the argument."""
        from marqov.workflows.decorators import _transport_inputs

        func_name = node.func_name
        args = [
            self._exact(value, 0, f"Task {func_name!r}: positional argument {position}", node)
            for position, value in enumerate(node.args)
        ]
        kwargs = {}
        for key, value in node.kwargs.items():
            where = f"Task {func_name!r}: keyword argument {key!r:.80}"
            if not is_storable(key):
                raise JobError(f"{where}: the name holds a NUL or a lone surrogate")
            kwargs[key] = self._exact(value, 0, where, node)
        try:
            return _transport_inputs(func_name, args, kwargs)  # type: ignore[no-any-return]
        except (TypeError, ValueError) as error:
            raise JobError(str(error)) from None

    def _exact(self, value: Any, depth: int, where: str, node: Any) -> Any:
        """The value with every inexact part pickled and every reference under its own id."""
        from marqov.workflows.activity import _unbox_numpy_scalar

        value = _unbox_numpy_scalar(value)
        if isinstance(value, str):
            self._check_text(value, where)
            return value if is_storable(value) else pickled(str(value), where)
        if isinstance(value, bool):
            return value
        if isinstance(value, int):
            return value if value.bit_length() <= INTEGER_BITS_MAX else pickled(int(value), where)
        if isinstance(value, float):
            return value if math.isfinite(value) else pickled(float(value), where)
        if isinstance(value, dict):
            return self._exact_dict(value, depth, where, node)
        if isinstance(value, list | tuple):
            if type(value) not in (list, tuple) and isinstance(value, tuple) and not _holds_reference(value):
                return value  # The SDK pickles a named tuple whole, so that it stays one.
            if depth >= DEPTH_MAX:
                return self._deep(value, where)
            items = [self._exact(item, depth + 1, f"{where}[{index}]", node) for index, item in enumerate(value)]
            return items if isinstance(value, list) else tuple(items)
        return value

    def _exact_dict(self, value: dict[Any, Any], depth: int, where: str, node: Any) -> Any:
        if value.get(PROXY):
            return self._exact_reference(value, where, node)
        if value.get(PICKLED):
            return _envelope(value, where)
        if not all(isinstance(key, str) for key in value):
            return value  # The SDK pickles such a dict whole, or refuses it when it holds a result.
        if depth >= DEPTH_MAX:
            return self._deep(value, where)
        for key in value:
            self._check_text(key, where)
        if not all(is_storable(key) for key in value):
            if _holds_reference(value):
                raise JobError(f"{where}: a dict that holds a task result has a key with a NUL or a lone surrogate")
            return pickled(value, where)
        return {key: self._exact(item, depth + 1, f"{where}[{key!r:.40}]", node) for key, item in value.items()}

    def _exact_reference(self, value: dict[Any, Any], where: str, node: Any) -> dict[str, Any]:
        node_id = value.get("node_id")
        if not isinstance(node_id, str) or node_id not in self._ids or node_id not in node.dependencies:
            raise JobError(
                f"{where}: a dict with the key '{PROXY}' is not a result of a task of this workflow; rename the key"
            )
        return reference(self._ids[node_id])

    def _deep(self, value: Any, where: str) -> Any:
        if _holds_reference(value):
            raise JobError(f"{where[:200]}: a task result is nested deeper than {DEPTH_MAX} levels")
        return pickled(value, where)

    def _check_text(self, text: str, where: str) -> None:
        if names_result(text, self._ids):
            raise JobError(f"{where[:200]}: {MADE_INTO_TEXT}")


def pickled(value: Any, where: str) -> dict[str, Any]:
    """The value in the SDK's envelope. Raises JobError for what cannot be pickled."""
    from marqov.workflows.activity import _cloudpickle_envelope

    try:
        return _cloudpickle_envelope(value)  # type: ignore[no-any-return]
    except Exception as error:
        raise JobError(f"{where[:200]} cannot be pickled: {type(error).__name__}: {str(error)[:200]}") from None


def _envelope(value: dict[Any, Any], where: str) -> dict[str, Any]:
    """A value that the program pickled itself, as the SDK would."""
    data = value.get("data")
    if set(value) == {PICKLED, "data"} and value[PICKLED] is True and isinstance(data, str):
        try:
            base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            pass
        else:
            return value
    raise JobError(f"{where[:200]}: the key '{PICKLED}' is reserved for pickled values; rename it")


def _holds_reference(value: Any) -> bool:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            if item.get(PROXY):
                return True
            waiting.extend(item.values())
        elif isinstance(item, list | tuple):
            waiting.extend(item)
    return False
