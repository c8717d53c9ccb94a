"""Makes the SDK's recording of task calls strict, in this single-use child.

Each call is recorded at once, so that an argument is what it was when the task was called (the SDK pickles it after the
workflow has returned, when a circuit may have grown) and a refusal has the user's own line. The number of tasks and the
size of the graph are limited while it grows. A result that is used as if it were known is refused.
"""

from __future__ import annotations

from typing import Any, NoReturn

from .graph import Graph

UNRESOLVED = "Cannot use an unresolved task result"
"""How the SDK's own refusal begins; ours begin in the same way."""


class Recording:
    """The graphs of all workflows that the code calls, by the SDK's graph objects."""

    def __init__(self) -> None:
        self.graphs: dict[Any, Graph] = {}

    def begin(self) -> None:
        """Changes the SDK's classes; to be called before any workflow is."""
        from marqov.workflows.graph import TaskProxy, TransportGraph

        record = TransportGraph.add_node

        def add_node(graph: Any, node: Any) -> None:
            self.graphs.setdefault(graph, Graph()).add(node)
            record(graph, node)

        TransportGraph.add_node = add_node
        TaskProxy.__eq__ = _equal
        TaskProxy.__ne__ = _not_equal
        TaskProxy.__reduce_ex__ = _not_pickled


def _equal(proxy: Any, other: Any) -> bool:
    """Whether two names stand for one task call. Compared with a value, a result would silently be unequal."""
    if type(other) is type(proxy):
        return proxy is other
    raise TypeError(f"{UNRESOLVED} in a comparison")


def _not_equal(proxy: Any, other: Any) -> bool:
    return not _equal(proxy, other)


def _not_pickled(_proxy: Any, _protocol: Any) -> NoReturn:
    raise TypeError(
        "a task result stands where it cannot be replaced by its value before the task runs; pass it as an argument,"
        " directly or inside a list, tuple or dict value"
    )
