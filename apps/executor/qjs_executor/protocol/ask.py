"""Checks what an execution requests from its caller: the child ran a stranger's code, so every field is only a claim. A
part that only another child opens (a task's function and arguments) is passed on unread.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from ..child.asks import circuit_digest
from ..execution_request import SHOTS_MAX
from ..job import MIB, Job
from .answer import (
    CIRCUIT_TEXT_MAX,
    COUNTS_MAX,
    REGISTERS_MAX,
    observables_of,
    registers_of,
    warnings_of,
)
from .checked_fields import BadAnswer, integer, listed, text
from .strict_json import NotStrictJson, parse_any

TASKS_MAX = 2_000
"""As many as a graph may have where it is recorded."""
NAME_MAX = 200
RETRIES_MAX = 1_000
TIMEOUT_SECONDS_MAX = 7 * 86_400.0
GRAPH_BYTES_MAX = 16 * MIB
"""Limit for the functions, the arguments and the output of one graph together."""
DEPENDENCIES_MAX = 200_000
"""Of all tasks of a graph together."""
DOT_MAX = MIB

_DIGEST = re.compile(r"[0-9a-f]{64}")
_BITS = re.compile(r"[01]{1,256}")
_GRAPH = frozenset(("name", "nodes", "levels", "output", "returns", "dot"))
_NODE = frozenset(
    ("node_id", "name", "func_name", "function", "arguments", "retries", "timeout_seconds", "dependencies")
)


def read_ask(ask: dict[str, Any], job: Job) -> dict[str, Any]:
    """The request with checked fields only. Whether its number is the next one is for the caller to check. Raises
    BadAnswer."""
    kind = ask.get("kind")
    allowed = {"graph": job.script.graphs, "circuit": job.script.circuits}
    if not isinstance(kind, str) or allowed.get(kind) != "ask":
        raise BadAnswer("ask: kind")
    number = integer(ask.get("number"), "ask: number", 1, 2**31)
    digest, final = ask.get("digest"), ask.get("final")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise BadAnswer("ask: digest")
    if not isinstance(final, bool) or (final and kind != "graph"):
        raise BadAnswer("ask: final")
    common = {"kind": kind, "number": number, "digest": digest, "final": final}
    return {**common, "graph": _graph(ask.get("graph"))} if kind == "graph" else {**common, **_circuit(ask)}


def counts_of(answer: dict[str, Any]) -> dict[str, int] | None:
    """The counts in an answer to a circuit request; None in any other answer. Raises ValueError."""
    if "counts" not in answer:
        return None
    try:
        counts = parse_any(answer["counts"])
    except NotStrictJson as error:
        raise ValueError(str(error)) from None
    if not isinstance(counts, dict) or not 1 <= len(counts) <= COUNTS_MAX:
        raise ValueError(f"must be JSON of an object with 1 to {COUNTS_MAX} counts")
    if len({len(key) for key in counts}) != 1 or not all(_BITS.fullmatch(key) for key in counts):
        raise ValueError("its keys must be strings of 0 and 1 of one length")
    if not all(isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in counts.values()):
        raise ValueError("its values must be integers of at least 0")
    return counts


def _circuit(ask: dict[str, Any]) -> dict[str, Any]:
    facts = ask.get("facts")
    if not isinstance(facts, dict):
        raise BadAnswer("ask: facts")
    names = facts.get("register_names")
    if names is not None:
        names = [text(name, "ask: register_names", 200) for name in listed(facts, "register_names", REGISTERS_MAX)]
    observables = observables_of(facts, "ask: observables")
    shots = integer(ask.get("shots"), "ask: shots", 1, SHOTS_MAX)
    openqasm3 = text(ask.get("openqasm3"), "ask: openqasm3", CIRCUIT_TEXT_MAX)
    if ask["digest"] != circuit_digest(openqasm3, shots):
        raise BadAnswer("ask: the digest is not the circuit's")
    return {
        "shots": shots,
        "openqasm3": openqasm3,
        "facts": {"register_names": names, "observables": observables, "warnings": warnings_of(facts)},
        "registers": registers_of(ask.get("registers")),
    }


def _graph(graph: Any) -> dict[str, Any]:
    if not isinstance(graph, dict) or set(graph) != _GRAPH:
        raise BadAnswer("ask: graph")
    places: dict[str, int] = {}
    levels: list[list[str]] = []
    nodes = [_node(node, places, levels) for node in listed(graph, "nodes", TASKS_MAX)]
    if graph["levels"] != levels:
        raise BadAnswer("ask: graph.levels")
    if sum(len(node["dependencies"]) for node in nodes) > DEPENDENCIES_MAX:
        raise BadAnswer(f"ask: the graph has more than {DEPENDENCIES_MAX} dependencies")
    returns = _known(graph, "returns", places, "ask: graph.returns")
    output = _exact(graph["output"], "ask: graph.output", GRAPH_BYTES_MAX)
    texts = [output, *(node[name] for node in nodes for name in ("function", "arguments"))]
    if sum(len(one.encode("utf-8")) for one in texts) > GRAPH_BYTES_MAX:
        raise BadAnswer(f"ask: the graph has more than {GRAPH_BYTES_MAX // MIB} MiB of functions and arguments")
    return {
        "name": _name(graph["name"], "ask: graph.name"),
        "nodes": nodes,
        "levels": levels,
        "output": output,
        "returns": returns,
        "dot": _exact(graph["dot"], "ask: graph.dot", DOT_MAX),
    }


def _node(node: Any, places: dict[str, int], levels: list[list[str]]) -> dict[str, Any]:
    """Checks a task and notes its place among the levels. It depends only on tasks before it, so there is no cycle."""
    node_id = f"task_{len(places) + 1:04}"
    if not isinstance(node, dict) or set(node) != _NODE or node["node_id"] != node_id:
        raise BadAnswer(f"ask: {node_id}")
    dependencies = _known(node, "dependencies", places, f"ask: {node_id}: dependencies")
    places[node_id] = place = max((places[one] + 1 for one in dependencies), default=0)
    if place == len(levels):
        levels.append([])
    levels[place].append(node_id)
    timeout = node["timeout_seconds"]
    if not isinstance(timeout, int | float) or isinstance(timeout, bool) or not 0 < timeout <= TIMEOUT_SECONDS_MAX:
        raise BadAnswer(f"ask: {node_id}: timeout_seconds")
    return {
        "node_id": node_id,
        "name": _name(node["name"], f"ask: {node_id}: name"),
        "func_name": _name(node["func_name"], f"ask: {node_id}: func_name"),
        "function": _base64(node["function"], f"ask: {node_id}: function"),
        "arguments": _exact(node["arguments"], f"ask: {node_id}: arguments", GRAPH_BYTES_MAX),
        "retries": integer(node["retries"], f"ask: {node_id}: retries", 0, RETRIES_MAX),
        "timeout_seconds": float(timeout),
        "dependencies": dependencies,
    }


def _known(owner: dict[str, Any], name: str, places: dict[str, int], where: str) -> list[str]:
    """Ids of tasks that came before, each once."""
    ids = listed(owner, name, TASKS_MAX)
    if not all(isinstance(one, str) and one in places for one in ids) or len(set(ids)) < len(ids):
        raise BadAnswer(where)
    return ids


def _name(value: Any, where: str) -> str:
    if value == "":
        raise BadAnswer(where)
    return _exact(value, where, NAME_MAX)


def _exact(value: Any, where: str, length_max: int) -> str:
    """A text that is stored and passed on unchanged, so one that cannot be stored is refused rather than repaired."""
    if text(value, where, length_max) != value:
        raise BadAnswer(where)
    return str(value)


def _base64(value: Any, where: str) -> str:
    try:
        base64.b64decode(_exact(value, where, GRAPH_BYTES_MAX), validate=True)
    except (binascii.Error, ValueError):
        raise BadAnswer(where) from None
    return str(value)
