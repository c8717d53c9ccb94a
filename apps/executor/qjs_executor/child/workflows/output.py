"""The return value of a workflow as a template: its shape and constants, with references for the results of tasks."""

from __future__ import annotations

from typing import Any

from ..refusals import JobError
from ..source.plain_value import DEPTH_MAX, plain_value
from .exact_json import MADE_INTO_TEXT, PICKLED, PROXY, is_storable, names_result, reference


def output_template(value: Any, ids: dict[str, str], where: str, depth: int = 0) -> Any:
    """What `WorkflowDispatch.capture()` gave as output, as JSON: names, lists and constants are kept, and tuples become
    lists. Raises JobError naming the value that a result cannot hold and its place."""
    from marqov.workflows.capture import TaskResultReference

    if isinstance(value, TaskResultReference):
        return reference(ids[value.node_id])
    if depth > DEPTH_MAX:
        raise JobError(f"{where[:200]}: nested deeper than {DEPTH_MAX} levels")
    if isinstance(value, list | tuple):
        return [output_template(item, ids, f"{where}[{index}]", depth + 1) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return _dict_template(value, ids, where, depth)
    plain = plain_value(value, where, depth)
    if isinstance(plain, str):
        if not is_storable(plain):
            raise JobError(f"{where}: the text holds a NUL or a lone surrogate, which a result cannot hold")
        if names_result(plain, ids):
            raise JobError(f"{where}: {MADE_INTO_TEXT}")
    return plain


def _dict_template(value: dict[Any, Any], ids: dict[str, str], where: str, depth: int) -> dict[str, Any]:
    template: dict[str, Any] = {}
    for key, item in value.items():
        # A dict of one member turns every key into a text as `main`'s results have it, or refuses it.
        (name,) = plain_value({key: None}, where)
        if name in (PROXY, PICKLED):
            raise JobError(f"{where}: the key '{name}' is reserved; rename it")
        if not is_storable(name):
            raise JobError(f"{where}: a key holds a NUL or a lone surrogate, which a result cannot hold")
        if name in template:
            raise JobError(f"{where}: two keys become the text '{name[:40]}'; use texts as keys")
        template[name] = output_template(item, ids, f"{where}[{key!r:.40}]", depth + 1)
    return template
