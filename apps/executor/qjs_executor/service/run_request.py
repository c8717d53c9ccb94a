"""The body of POST /run, parsed once into a job and its limits; nothing behind this module doubts them again.

The user's code and circuit stay opaque strings here: reading them is the child's business.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, NoReturn

from ..sandbox.seam import Job, Limits
from .lanes import Lane
from .strict_json import NotStrictJson, parse_object

BODY_BYTES_MAX = 4 * 1024 * 1024
TEXT_MAX = 1024 * 1024
"""Code points of a circuit payload or script, as the API admits them."""
SHOTS_MAX = 100_000
SEED_MAX = 2**63 - 1
"""The simulator takes a signed 64-bit seed."""
WALL_SECONDS_MAX = 900
QUBITS_MAX = 256
KEY_MAX = 100

FRAMEWORKS = ("qiskit", "cirq", "pennylane", "openqasm", "marqov", "auto")
FORMATS = ("qasm2", "qasm3")
ENGINES = ("statevector", "density_matrix", "mps", "noisy", "gpu_statevector", "gpu_tensor_network")
"""All that are known; whether a machine has those on GPUs is for a child to say."""


class InvalidRequest(Exception):
    """The request cannot be a job; the message says where, what and how to mend."""


def request_object(body: bytes) -> dict[str, Any]:
    """The body as a JSON object whose strings a database can hold. Raises InvalidRequest."""
    try:
        request = parse_object(body)
    except NotStrictJson as error:
        raise InvalidRequest(f"body: must be a JSON object ({error})") from None
    _check_strings(request)
    return request


def parse_run_request(body: bytes, defaults: Limits) -> tuple[Job, Limits, Lane]:
    """A job, its limits and its lane from the body of a request. Raises InvalidRequest."""
    request = request_object(body)
    source = source_of(request.get("source"))
    engine = text_of(request.get("engine"), "engine", 40)
    if engine not in ENGINES:
        refuse("engine", f"must be one of {', '.join(ENGINES)}", engine)
    wall = wall_seconds_of(request, defaults.wall_seconds, WALL_SECONDS_MAX)
    job = Job(
        run_id=text_of(request.get("run_id"), "run_id", 100),
        source=source,
        backend=text_of(request.get("backend"), "backend", 100),
        engine=engine,
        max_qubits=integer_of(request.get("max_qubits"), "max_qubits", 1, QUBITS_MAX),
        params=_params(request.get("params")),
    )
    return job, replace(defaults, wall_seconds=wall), lane_of(request)


def wall_seconds_of(request: dict[str, Any], default: float, most: float) -> float:
    """How long a request may take, `limits.wall_seconds`. Raises InvalidRequest."""
    limits = request.get("limits", {})
    if not isinstance(limits, dict):
        refuse("limits", "must be an object", limits)
    return _number(limits.get("wall_seconds", default), "limits.wall_seconds", 0.1, most)


def lane_of(request: dict[str, Any]) -> Lane:
    """The lane that a request asks for and the keys of its user and team. Raises InvalidRequest."""
    keys = request.get("keys", {})
    if not isinstance(keys, dict):
        refuse("keys", "must be an object with user and team", keys)
    user, team = (
        text_of(keys[name], f"keys.{name}", KEY_MAX) if keys.get(name) is not None else "" for name in ("user", "team")
    )
    match request.get("lane", "jobs"):
        case "jobs":
            return Lane("jobs", user, team)
        case "interactive":
            return Lane("interactive", user, team)
        case other:
            refuse("lane", "must be jobs or interactive", other)


def _check_strings(root: dict[str, Any]) -> None:
    """Every string, keys included, is text that a database can hold. Walks without recursion."""
    waiting: list[tuple[Any, str]] = [(root, "")]
    while waiting:
        value, where = waiting.pop()
        if isinstance(value, str):
            if "\0" in value:
                raise InvalidRequest(f"{where}: contains a NUL character; remove it")
            try:
                value.encode("utf-8")
            except UnicodeEncodeError:
                raise InvalidRequest(f"{where}: contains a lone surrogate, which is not text; remove it") from None
        elif isinstance(value, dict):
            for key, item in value.items():
                waiting.append((key, f"{where or 'body'} (a key)"))
                waiting.append((item, f"{where}.{key[:40]}" if where else key[:40]))
        elif isinstance(value, list):
            waiting.extend((item, f"{where}[{index}]") for index, item in enumerate(value))


def source_of(source: Any) -> dict[str, str]:
    """A source: a framework's code, or a circuit. Raises InvalidRequest."""
    if not isinstance(source, dict):
        refuse("source", "must be an object", source)
    kind = source.get("kind")
    if kind == "code":
        framework = source.get("framework")
        if framework not in FRAMEWORKS:
            refuse("source.framework", f"must be one of {', '.join(FRAMEWORKS)}", framework)
        return {"kind": kind, "framework": framework, "code": text_of(source.get("code"), "source.code", TEXT_MAX)}
    if kind == "circuit":
        form = source.get("format")
        if form not in FORMATS:
            refuse("source.format", f"must be one of {', '.join(FORMATS)}", form)
        return {"kind": kind, "format": form, "payload": text_of(source.get("payload"), "source.payload", TEXT_MAX)}
    refuse("source.kind", "must be code or circuit", kind)


def _params(params: Any) -> dict[str, Any]:
    if not isinstance(params, dict):
        refuse("params", "must be an object", params)
    integer_of(params.get("shots"), "params.shots", 1, SHOTS_MAX)
    if params.get("seed") is not None:
        integer_of(params["seed"], "params.seed", 0, SEED_MAX)
    if params.get("optimization_level") is not None:
        integer_of(params["optimization_level"], "params.optimization_level", 0, 3)
    if params.get("noise_model") is not None and not isinstance(params["noise_model"], dict):
        refuse("params.noise_model", "must be an object", params["noise_model"])
    if not isinstance(params.get("extract_state_vector", False), bool):
        refuse("params.extract_state_vector", "must be true or false", params["extract_state_vector"])
    return params


def text_of(value: Any, where: str, length_max: int) -> str:
    """A text of 1 to `length_max` characters. Raises InvalidRequest."""
    if not isinstance(value, str) or not 1 <= len(value) <= length_max:
        refuse(where, f"must be a text of 1 to {length_max} characters", value)
    return value


def integer_of(value: Any, where: str, low: int, high: int) -> int:
    """An integer within its range. Raises InvalidRequest."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        refuse(where, f"must be an integer from {low} to {high}", value)
    return value


def _number(value: Any, where: str, low: float, high: float) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
        refuse(where, f"must be a number from {low} to {high}", value)
    return float(value)


def refuse(where: str, rule: str, got: Any) -> NoReturn:
    """Raises InvalidRequest saying where, what is asked for, and what was got."""
    shown = f"a text of {len(got)} characters" if isinstance(got, str) and len(got) > 60 else json.dumps(got)[:80]
    raise InvalidRequest(f"{where}: {rule} (got {shown})")
