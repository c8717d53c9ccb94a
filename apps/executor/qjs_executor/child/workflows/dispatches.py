"""The workflows that a script dispatches: recorded, and executed here or by the caller."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ...execution_request import Where
from ..asks import Asks
from ..device import Device
from ..refusals import JobError
from .capture import graph_of, guarded_graph
from .digest import graph_digest
from .graph import references
from .local_run import run_here
from .metadata import WorkflowMetadata
from .recording import Recording
from .shared_generators import pickle_generators_by_reference
from .task_device import pickle_devices_by_reference, provide_device
from .values import filled

NEVER_RUN = "a workflow was called but not run: what the call gives is a plan, until `await workflow(...).run(client)`"


class Prepared(dict[str, Any]):
    """What the SDK sends to start a workflow, with its graph."""

    def __init__(self, graph: dict[str, Any]) -> None:
        nodes = {node["node_id"]: {**node, "func_ref": node["function"]} for node in graph["nodes"]}
        outputs = references(graph["output"])
        super().__init__(nodes=nodes, execution_levels=graph["levels"], output_nodes=outputs)
        self.graph = graph


class Dispatches:
    """Executes the graphs of one script. `task_device` creates the device that a task sees when it is executed here."""

    def __init__(self, graphs: Where, asks: Asks, task_device: Callable[[], Device]) -> None:
        self.metadata = WorkflowMetadata()
        self._graphs = graphs
        self._asks = asks
        self._task_device = task_device
        self._recording = Recording()
        self._runs = 0

    def begin(self) -> None:
        """Changes the SDK's classes; to be called before the script's code runs."""
        from marqov.workflows.decorators import WorkflowDispatch

        self._recording.begin()
        pickle_devices_by_reference()
        pickle_generators_by_reference()
        provide_device(self._task_device())

        def prepared(dispatch: Any) -> Prepared:
            return Prepared(graph_of(self._recording, dispatch))

        WorkflowDispatch._prepare_workflow_input = prepared

    @property
    def notes(self) -> list[str]:
        """Warnings for workflows that were called but not run."""
        return [NEVER_RUN] if self._recording.graphs and self._runs == 0 else []

    def graph(self, dispatch: Any) -> dict[str, Any]:
        """The graph of a dispatch. Raises JobError."""
        return guarded_graph(self._recording, dispatch)

    def run(self, graph: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """What a workflow returns, with encoded results of tasks in their places, and its metadata. Stops the script
        when a task fails."""
        self._runs += 1
        if self._graphs == "ask" and graph["nodes"]:
            return self._asked(graph)
        values, times = run_here(graph, self._asks, lambda: provide_device(self._task_device()))
        self.metadata.add(graph, times)
        alone = WorkflowMetadata()
        alone.add(graph, times)
        return filled(graph["output"], values), alone.plain()

    def final(self, graph: dict[str, Any]) -> dict[str, Any]:
        """The message that ends the execution: the value that this workflow returns is the job's result."""
        return self._asks.final("graph", graph_digest(graph), _what(graph), {"graph": _message(graph)})

    def _asked(self, graph: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        answer = self._asks.answer("graph", graph_digest(graph), _what(graph), {"graph": _message(graph)})
        metadata = answer.get("metadata")
        try:
            return filled(graph["output"], answer["values"]), json.loads(metadata) if metadata else {}
        except JobError as error:
            self._asks.end(error)


def _what(graph: dict[str, Any]) -> str:
    count = len(graph["nodes"])
    return f"the workflow '{graph['name']}' with {count} task{'' if count == 1 else 's'}"


def _message(graph: dict[str, Any]) -> dict[str, Any]:
    """The graph in the form that the service accepts: values that the service only passes on are JSON text, in which
    integers stay exact."""
    return {
        "name": graph["name"],
        "nodes": [
            {
                **{name: value for name, value in node.items() if name not in ("args", "kwargs")},
                "arguments": _text({"args": node["args"], "kwargs": node["kwargs"]}),
            }
            for node in graph["nodes"]
        ],
        "levels": graph["levels"],
        "output": _text(graph["output"]),
        "returns": list(references(graph["output"])),
        "dot": graph["dot"],
    }


def _text(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))
