"""What a submission says, from the arguments of the clients."""

from __future__ import annotations

import difflib
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

POINTS_MAX = 1_000
PAYLOAD_BYTES_MAX = 1024 * 1024
"""Of all circuits of a sweep together."""

_VERSION = re.compile(r"(?:\ufeff|\s|//[^\n]*|/\*.*?\*/)*OPENQASM\s+2", re.DOTALL)

_ANALOG = '"braket.ir.ahs.program"'


class CircuitText(TypedDict):
    """A circuit in OpenQASM (``format`` ``qasm2`` or ``qasm3``), or an analog program (``ahs``)."""

    format: str
    payload: str


@dataclass(frozen=True)
class Circuit:
    """A circuit of a sweep with parameters of its own, which are merged over those of the submission."""

    text: str
    params: Mapping[str, Any] = field(default_factory=dict)


def circuit_text(text: str) -> CircuitText:
    """OpenQASM 2 says so in its version line, and an analog program in its header; the rest is version 3."""
    if text.lstrip().startswith("{") and _ANALOG in text:
        return {"format": "ahs", "payload": text}
    return {"format": "qasm2" if _VERSION.match(text) else "qasm3", "payload": text}


class Options(TypedDict, total=False):
    """What a submission can say beside its circuit; docs/jobs.md has the meaning."""

    code: str
    """A program in Python, or OpenQASM in a dialect of its ``framework``."""
    circuits: Sequence[str | Circuit]
    script_id: str
    script_slug: str
    framework: str
    backend: str
    choose: Mapping[str, Any]
    shots: int
    params: Mapping[str, Any]
    points: Sequence[Mapping[str, Any]]
    seed: int
    observables: Sequence[str]
    observables_method: str
    mitigation: Mapping[str, Any]
    extract_state_vector: bool
    noise_model: Mapping[str, Any]
    optimization_level: int
    circuit_count: int
    theta: float
    graph_size: int
    layers: int
    name: str
    labels: Sequence[str]
    execution_mode: str
    team_id: str
    timeout_seconds: int
    max_cost_usd: float
    not_before: str
    notify: str
    create_capsule: bool
    capsule_name: str
    analysis_id: str
    warn_check_ids: Sequence[str]
    sdk_version: str


PROGRAMS = ("circuit", "circuits", "inline_code", "script_id", "script_slug")
OF_PARAMS = (
    *("shots", "points", "seed", "observables", "observables_method", "mitigation"),
    *("extract_state_vector", "noise_model", "optimization_level", "circuit_count"),
    *("theta", "graph_size", "layers"),
)
"""Options that are members of `params`."""
OTHER_NAMES = {"code": "inline_code"}
OF_A_PLUGIN = tuple(
    name
    for name in Options.__annotations__
    if name not in ("code", "circuits", "script_id", "script_slug", "framework", "backend", "shots", "points")
)
"""Options of the jobs that a plugin submits, whose circuits, shots and backend come from the framework."""


def submission(circuit: str | None, **options: Any) -> dict[str, Any]:
    """The body of a submission. Options that are None are left out. Raises TypeError for an option that the service
    would drop, ValueError unless there is exactly one program."""
    check_known(options)
    given = {OTHER_NAMES.get(name, name): value for name, value in options.items() if value is not None}
    params = {"shots": 1000, **given.pop("params", {})}
    params.update((name, given.pop(name)) for name in OF_PARAMS if name in given)
    body = {"backend": "local", **given, "params": params}
    if circuit is not None:
        body["circuit"] = circuit_text(circuit)
    if "circuits" in body:
        body["circuits"] = [_item(one) for one in body["circuits"]]
    if sum(name in body for name in PROGRAMS) != 1:
        raise ValueError("name exactly one program: circuit, circuits, code, script_id or script_slug")
    return body


def check_known(options: Iterable[str], known: Container[str] = tuple(Options.__annotations__)) -> None:
    """Raises TypeError naming the first option that is none of `known`. The service drops keys that it does not know,
    so the job would be another one than was meant."""
    for name in options:
        if name in known:
            continue
        if name in Options.__annotations__:
            raise TypeError(f"option '{name}' is none of a plugin's: the framework's own calls say it")
        own_names = {**dict.fromkeys(Options.__annotations__), **{sent: own for own, sent in OTHER_NAMES.items()}}
        [nearest] = difflib.get_close_matches(name, own_names, n=1, cutoff=0)
        raise TypeError(
            f"unknown option '{name}'; the nearest is '{own_names[nearest] or nearest}'."
            " Parameters of a program of your own belong in params"
        )


def _item(one: str | Circuit) -> dict[str, Any]:
    if isinstance(one, str):
        return {**circuit_text(one)}
    return {**circuit_text(one.text), **({"params": dict(one.params)} if one.params else {})}


def in_sweeps(circuits: Sequence[Circuit]) -> list[list[Circuit]]:
    """The circuits in their order, in as few sweeps as the service takes: by number and by bytes."""
    sweeps: list[list[Circuit]] = []
    size = 0
    for one in circuits:
        length = len(one.text.encode())
        if not sweeps or len(sweeps[-1]) == POINTS_MAX or size + length > PAYLOAD_BYTES_MAX:
            sweeps.append([])
            size = 0
        sweeps[-1].append(one)
        size += length
    return sweeps
