"""Builds the metadata that a result reports about its graphs, in the SDK's own form."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .graph import references


@dataclass(frozen=True)
class Timed:
    """When a task ran, as ISO 8601 with microseconds."""

    started_at: str
    completed_at: str


@dataclass
class WorkflowMetadata:
    """`_workflow_metadata` of the graphs that a script has executed. From the second graph on, tasks are called
    `n.task_0001`, and their levels follow the previous ones."""

    graphs: int = 0
    _nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    _levels: list[list[str]] = field(default_factory=list)
    _outputs: list[str] = field(default_factory=list)
    _timeline: list[dict[str, Any]] = field(default_factory=list)

    def add(self, graph: dict[str, Any], times: dict[str, Timed]) -> None:
        """A graph all of whose tasks have completed."""
        self.graphs += 1
        prefix = "" if self.graphs == 1 else f"{self.graphs}."
        before = len(self._levels)
        level_of = {node_id: number for number, level in enumerate(graph["levels"], before) for node_id in level}
        self._levels += [[prefix + node_id for node_id in level] for level in graph["levels"]]
        self._outputs += [prefix + node_id for node_id in references(graph["output"])]
        for node in graph["nodes"]:
            node_id = node["node_id"]
            self._nodes[prefix + node_id] = {
                "func_name": node["func_name"],
                "dependencies": [prefix + dependency for dependency in node["dependencies"]],
            }
            self._timeline.append(
                {
                    "node_id": prefix + node_id,
                    "func_name": node["func_name"],
                    "level": level_of[node_id],
                    "started_at": times[node_id].started_at,
                    "completed_at": times[node_id].completed_at,
                    "status": "completed",
                }
            )

    def plain(self) -> dict[str, Any]:
        """The metadata as plain JSON values."""
        return {
            "execution_graph": {
                "nodes": self._nodes,
                "execution_levels": self._levels,
                "output_nodes": self._outputs,
            },
            "task_timeline": self._timeline,
            "total_tasks": len(self._nodes),
            "total_levels": len(self._levels),
        }
