"""Computes the digest by which a graph is recognised when its script is repeated."""

from __future__ import annotations

from typing import Any

from ..asks import digest_of
from .exact_json import PICKLED

_FIELDS = ("node_id", "name", "func_name", "retries", "timeout_seconds", "dependencies")


def graph_digest(graph: dict[str, Any]) -> str:
    """The digest covers names, settings, dependencies, plain arguments and what is returned. For a pickle it covers
    only the place: equal values may be pickled differently."""
    nodes = [
        {**{name: node[name] for name in _FIELDS}, "args": _plain(node["args"]), "kwargs": _plain(node["kwargs"])}
        for node in graph["nodes"]
    ]
    return digest_of("graph", graph["name"], nodes, graph["output"])


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {PICKLED: True} if value.get(PICKLED) else {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
