"""Passes results of tasks to other tasks and to the job's result: encodes them, inserts them in place of references,
and opens them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from ..refusals import JobError
from .exact_json import PICKLED, PROXY, ArgumentEncoder, pickled

MIB = 1024 * 1024
RESULT_BYTES_MAX = 16 * MIB
"""The limit of one task's encoded result, which the service stores and passes on."""


def encoded(value: Any, where: str) -> str:
    """The value as JSON text from which it can be restored: as the SDK encodes a task's result, with everything pickled
    that JSON would change. Raises JobError naming the part that cannot be encoded."""
    text = json.dumps(_ResultEncoder().result(value, where), allow_nan=False, separators=(",", ":"))
    if len(text) > RESULT_BYTES_MAX:
        raise JobError(
            f"{where} a value of {len(text) / MIB:.1f} MiB when it is kept, more than the limit of"
            f" {RESULT_BYTES_MAX // MIB} MiB: return less, such as what is computed from it"
        )
    return text


def filled(template: Any, values: Mapping[str, str]) -> Any:
    """A template with the encoded results of tasks, by id, in place of its references. Each place gets a copy of its
    own. Raises JobError for a missing result."""
    if isinstance(template, dict):
        if template.get(PROXY):
            node_id = template["node_id"]
            if node_id not in values:
                raise JobError(f"the result of {node_id} is needed and was not given")
            return json.loads(values[node_id])
        return {key: filled(item, values) for key, item in template.items()}
    return [filled(item, values) for item in template] if isinstance(template, list) else template


def opened(value: Any) -> Any:
    """An encoded value with its pickles opened; only to be called in the sandbox. Raises what unpickling raises."""
    if isinstance(value, dict):
        if value.get(PICKLED):
            return unpickled(value["data"])
        return {key: opened(item) for key, item in value.items()}
    return [opened(item) for item in value] if isinstance(value, list) else value


def unpickled(data: str) -> Any:
    """A value from base64 of its pickle."""
    import cloudpickle  # type: ignore[import-untyped]

    return cloudpickle.loads(base64.b64decode(data))


class _ResultEncoder(ArgumentEncoder):
    def __init__(self) -> None:
        super().__init__({})

    def result(self, value: Any, where: str) -> Any:
        from marqov.workflows.decorators import _transport_arg

        exact = self._exact(value, 0, where, None)
        try:
            return _transport_arg(exact)
        except (TypeError, ValueError) as error:
            raise JobError(f"{where} what cannot be kept: {error}"[:500]) from None

    def _exact_dict(self, value: dict[Any, Any], depth: int, where: str, node: Any) -> Any:
        if value.get(PROXY) or value.get(PICKLED):
            return pickled(value, where)  # The value itself, not what its keys mean to the SDK.
        return super()._exact_dict(value, depth, where, node)
