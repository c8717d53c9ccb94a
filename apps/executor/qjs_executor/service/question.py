"""The bodies of the questions about a source, which give no counts: convert, compile, analyse and capture.

Each is parsed into a job of its kind; what the kind needs in addition to the source is in `Job.details`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..child.targets.target import parse_target
from ..execution_request import RequestKind
from ..job import Job, Limits
from .lanes import Lane
from .request_fields import InvalidRequest, integer_of, refuse, text_of
from .run_request import (
    KEY_MAX,
    QUBITS_MAX,
    TEXT_MAX,
    lane_of,
    params_of,
    request_id_of,
    source_of,
    wall_seconds_of,
)

WALL_SECONDS = 10.0
"""Reading, converting and describing are quick; what takes longer is an attack or should be a job."""
ANALYSE_SECONDS = 30.0
"""A script of 1 MiB that is one long list of gates takes about ten seconds on an idle machine."""
COMPILE_SECONDS = 60.0
"""Routing a wide circuit onto a device's couplings takes long."""
MOST_SECONDS: dict[RequestKind, float] = {"analyse": ANALYSE_SECONDS, "compile": COMPILE_SECONDS}
ARGUMENT_KEYS = {"args", "kwargs"}

Parse = Callable[[dict[str, Any], Limits], tuple[Job, Limits, Lane]]


def parse_convert_request(request: dict[str, Any], defaults: Limits) -> tuple[Job, Limits, Lane]:
    """Parses a request for the canonical OpenQASM 3 of a source. Raises InvalidRequest."""
    return _question("convert", request, source_of(request.get("source")), {}, defaults)


def parse_compile_request(request: dict[str, Any], defaults: Limits) -> tuple[Job, Limits, Lane]:
    """Parses a request for a source in a provider's own form, `target`. Raises InvalidRequest."""
    target = request.get("target")
    try:
        parse_target(target)
    except ValueError as error:
        raise InvalidRequest(str(error)) from None
    source = source_of(request.get("source"), analog=True)
    return _question("compile", request, source, {"target": target}, defaults)


def parse_analyse_request(request: dict[str, Any], defaults: Limits) -> tuple[Job, Limits, Lane]:
    """Parses a request to describe a script and its requirements without running either. Raises InvalidRequest."""
    requirements = request.get("requirements")
    if requirements is not None and (not isinstance(requirements, str) or len(requirements) > TEXT_MAX):
        refuse("requirements", f"must be a text of at most {TEXT_MAX} characters", requirements)
    source = {"kind": "code", "framework": "auto", "code": text_of(request.get("code"), "code", TEXT_MAX)}
    return _question("analyse", request, source, {"requirements": requirements}, defaults)


def parse_capture_request(request: dict[str, Any], defaults: Limits) -> tuple[Job, Limits, Lane]:
    """Parses a request for the task graph of a script's workflow. Raises InvalidRequest."""
    entrypoint, arguments = request.get("entrypoint"), request.get("arguments")
    if entrypoint is not None:
        text_of(entrypoint, "entrypoint", 128)
    if arguments is not None and not _are_arguments(arguments):
        refuse("arguments", "must be an object with args, a list, and kwargs, an object", arguments)
    source = {"kind": "code", "framework": "marqov", "code": text_of(request.get("code"), "code", TEXT_MAX)}
    wanted = {"entrypoint": entrypoint, "arguments": arguments}
    return _question("capture", request, source, wanted, defaults)


def _are_arguments(value: Any) -> bool:
    if not isinstance(value, dict) or set(value) != ARGUMENT_KEYS:
        return False
    return isinstance(value["args"], list) and isinstance(value["kwargs"], dict)


def _question(
    kind: RequestKind, request: dict[str, Any], source: dict[str, str], wanted: dict[str, Any], defaults: Limits
) -> tuple[Job, Limits, Lane]:
    params = request.get("params", {})
    if not isinstance(params, dict):
        refuse("params", "must be an object", params)
    lane = lane_of({"lane": "interactive", **request})
    job = Job(
        run_id=text_of(request.get("run_id", kind), "run_id", KEY_MAX),
        source=source,
        backend=text_of(request.get("backend", "local"), "backend", KEY_MAX),
        engine="statevector",
        max_qubits=integer_of(request.get("max_qubits", QUBITS_MAX), "max_qubits", 1, QUBITS_MAX),
        params=params_of({"shots": 1, **params}),
        kind=kind,
        details=wanted,
        owner=lane.team,
        request_id=request_id_of(request),
    )
    most = MOST_SECONDS.get(kind, WALL_SECONDS)
    limits = replace(defaults, wall_seconds=wall_seconds_of(request, most, most))
    return job, limits, lane
