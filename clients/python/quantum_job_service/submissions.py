"""What a submission says, from the arguments of the clients."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
    extract_state_vector: bool
    noise_model: Mapping[str, Any]
    optimization_level: int
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


PROGRAMS = ("circuit", "circuits", "inline_code", "script_id", "script_slug")
OF_PARAMS = (
    *("shots", "points", "seed", "observables", "observables_method"),
    *("extract_state_vector", "noise_model", "optimization_level"),
)
"""Options that are members of `params`."""
OTHER_NAMES = {"code": "inline_code"}


def submission(circuit: str | None, **options: Any) -> dict[str, Any]:
    """The body of a submission. Options that are None are left out. Raises ValueError unless there is exactly one
    program."""
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
