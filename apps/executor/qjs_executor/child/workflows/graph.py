"""The graph of a workflow's tasks as plain values, in the order in which they were recorded."""

from __future__ import annotations

import json
import math
from typing import Any

from ..refusals import JobError
from .exact_json import PROXY, ArgumentEncoder, is_storable
from .output import output_template

MIB = 1024 * 1024
TASKS_MAX = 2_000
"""The largest graph that a job can show and store; an endless loop is refused while it records."""
ANSWER_BYTES_MAX = 12 * MIB
"""The limit of the graph's JSON; a child's whole answer may have 16 MiB."""
RETRIES_MAX = 1_000
TIMEOUT_SECONDS_MAX = 7 * 86_400.0
"""Longer than any queue of a quantum computer."""
NAME_MAX = 200


class Graph:
    """One workflow's task calls as plain values, ids in the order of the calls."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self._ids: dict[str, str] = {}
        self._encoder = ArgumentEncoder(self._ids)
        self._bytes = 0

    def add(self, node: Any) -> None:
        """Records the call that the SDK is about to record. Raises JobError naming the task and what cannot be sent."""
        if len(self.nodes) >= TASKS_MAX:
            raise JobError(f"the workflow records more than {TASKS_MAX} tasks, the limit of a graph")
        func_name = _name(node.func_name, "a task's function name")
        if any(dependency not in self._ids for dependency in node.dependencies):
            raise JobError(
                f"task '{func_name}' takes a result that another workflow recorded; call the task inside this workflow"
            )
        args, kwargs = self._encoder.encoded(node)
        node_id = f"task_{len(self.nodes) + 1:04}"
        recorded = {
            "node_id": node_id,
            "name": _name(node.config.name, f"task '{func_name}': name"),
            "func_name": func_name,
            "function": node.func_ref,
            "args": args,
            "kwargs": kwargs,
            "retries": _retries(node.config.retries, func_name),
            "timeout_seconds": _timeout(node.config.timeout_seconds, func_name),
            "dependencies": [self._ids[dependency] for dependency in node.dependencies],
        }
        size = len(json.dumps(recorded))
        if self._bytes + size > ANSWER_BYTES_MAX:
            raise JobError(_too_large([*self.nodes, recorded]))
        self._bytes += size
        self._ids[node.id] = node_id
        self.nodes.append(recorded)

    def answer(self, dispatch: Any, output: Any) -> dict[str, Any]:
        """{name, nodes, levels, output, dot} of the SDK's dispatch with this graph, whose captured return value is
        `output`. Raises JobError where the output cannot be expressed, or the graph is no longer the one recorded."""
        self._check_unchanged(dispatch.graph)
        name = _name(dispatch.name, "the workflow's name")
        template = output_template(output, self._ids, f"{name}() returned")
        answer = {
            "name": name,
            "nodes": self.nodes,
            "levels": _levels(self.nodes),
            "output": template,
            "dot": _dot(self.nodes, template),
        }
        if len(json.dumps(answer)) > ANSWER_BYTES_MAX:
            raise JobError(f"the graph and what {name}() returns need more than {ANSWER_BYTES_MAX // MIB} MiB")
        return answer

    def _check_unchanged(self, graph: Any) -> None:
        edges = [(dependency, node["node_id"]) for node in self.nodes for dependency in node["dependencies"]]
        present = [
            (self._ids.get(dependency), self._ids.get(node.id))
            for node in graph.nodes.values()
            for dependency in node.dependencies
        ]
        drawn = [(self._ids.get(source), self._ids.get(target)) for source, target in graph.edges]
        if [*graph.nodes] != [*self._ids] or present != edges or drawn != edges:
            raise JobError("the workflow changed its graph; dependencies are made by passing results, and only so")


def _levels(nodes: list[dict[str, Any]]) -> list[list[str]]:
    """Tasks by the length of the longest chain before them."""
    level: dict[str, int] = {}
    levels: list[list[str]] = []
    for node in nodes:
        place = max((level[dependency] + 1 for dependency in node["dependencies"]), default=0)
        level[node["node_id"]] = place
        if place == len(levels):
            levels.append([])
        levels[place].append(node["node_id"])
    return levels


def _dot(nodes: list[dict[str, Any]], template: Any) -> str:
    """The graph for Graphviz as the SDK draws it: tasks that the workflow returns are filled."""
    returned = set(references(template))
    lines = ["digraph workflow {", "  rankdir=TB;"]
    for node in nodes:
        label = node["func_name"].replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        filled = " style=filled fillcolor=lightblue" if node["node_id"] in returned else ""
        lines.append(f'  "{node["node_id"]}" [label="{label}"{filled}];')
    lines += [f'  "{source}" -> "{node["node_id"]}";' for node in nodes for source in node["dependencies"]]
    return "\n".join([*lines, "}"])


def references(template: Any) -> list[str]:
    """Ids of the tasks whose results a template takes, in the order of their first places."""
    found: dict[str, None] = {}
    waiting = [template]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if PROXY in value:
                found[value["node_id"]] = None
            waiting.extend(reversed(value.values()))
        elif isinstance(value, list):
            waiting.extend(reversed(value))
    return [*found]


def _name(value: Any, what: str) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= NAME_MAX or not is_storable(value):
        raise JobError(f"{what} must be a text of 1 to {NAME_MAX} characters (got {str(value)[:60]!r})")
    return str(value)


def _retries(value: Any, func_name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= RETRIES_MAX:
        raise JobError(
            f"task '{func_name}': retries must be an integer from 0 to {RETRIES_MAX} (got {str(value)[:40]!r})"
        )
    return int(value)


def _timeout(value: Any, func_name: str) -> float:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not usable or not 0 < value <= TIMEOUT_SECONDS_MAX:
        limit = f"above 0, at most {TIMEOUT_SECONDS_MAX:.0f}"
        raise JobError(f"task '{func_name}': timeout must be a number of seconds {limit} (got {str(value)[:40]!r})")
    return float(value)


def _too_large(nodes: list[dict[str, Any]]) -> str:
    largest = max(nodes, key=lambda node: len(json.dumps(node)))
    parts = {"its function with what it refers to": "function", "its arguments": "args"}
    part = max(parts, key=lambda text: len(json.dumps(largest[parts[text]])))
    return (
        f"the graph needs more than {ANSWER_BYTES_MAX // MIB} MiB; the largest task is '{largest['func_name']}'"
        f" ({part}): make large data inside a task"
    )
