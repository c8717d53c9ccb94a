"""The body of POST /run, parsed once into a job and its limits; nothing behind this module doubts them again.

The user's code and circuit stay opaque strings here: reading them is the child's business.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..job import Job, Limits
from .lanes import Lane
from .request_fields import integer_of, number_of, refuse, text_of
from .script_request import script_of

BODY_BYTES_MAX = 4 * 1024 * 1024
TEXT_MAX = 1024 * 1024
"""Code points of a circuit payload or script, as the API admits them."""
SHOTS_MAX = 100_000
SEED_MAX = 2**63 - 1
"""The simulator takes a signed 64-bit seed."""
WALL_SECONDS_MIN = 0.1
WALL_SECONDS_MAX = 900
TASK_SECONDS_MAX = 7 * 86_400
"""What may be asked for a task; it is given WALL_SECONDS_MAX at most, a stretch between two questions each."""
QUBITS_MAX = 256
KEY_MAX = 100

FRAMEWORKS = ("qiskit", "cirq", "pennylane", "openqasm", "marqov", "auto")
FORMATS = ("qasm2", "qasm3")
ENGINES = ("statevector", "density_matrix", "mps", "noisy", "gpu_statevector", "gpu_tensor_network")
"""All that are known; whether a machine has those on GPUs is for a child to say."""


def parse_run_request(request: dict[str, Any], defaults: Limits) -> tuple[Job, Limits, Lane]:
    """A job, its limits and its lane from the body of a request. Raises InvalidRequest."""
    source = source_of(request.get("source"))
    engine = text_of(request.get("engine"), "engine", 40)
    if engine not in ENGINES:
        refuse("engine", f"must be one of {', '.join(ENGINES)}", engine)
    script = script_of(request)
    # A task has the limit that its author wrote, which may be days, or nearly nothing.
    least, most = (0.0, TASK_SECONDS_MAX) if script.task else (WALL_SECONDS_MIN, WALL_SECONDS_MAX)
    wall = wall_seconds_of(request, defaults.wall_seconds, most, least)
    wall = min(max(wall, WALL_SECONDS_MIN), WALL_SECONDS_MAX)
    job = Job(
        run_id=text_of(request.get("run_id"), "run_id", 100),
        source=source,
        backend=text_of(request.get("backend"), "backend", 100),
        engine=engine,
        max_qubits=_max_qubits(request.get("max_qubits")),
        params=_params(request.get("params")),
        script=script,
    )
    return job, replace(defaults, wall_seconds=wall), lane_of(request)


def wall_seconds_of(request: dict[str, Any], default: float, most: float, least: float = WALL_SECONDS_MIN) -> float:
    """How long a request may take, `limits.wall_seconds`. Raises InvalidRequest."""
    limits = request.get("limits", {})
    if not isinstance(limits, dict):
        refuse("limits", "must be an object", limits)
    return number_of(limits.get("wall_seconds", default), "limits.wall_seconds", least, most)


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


def _max_qubits(value: Any) -> int:
    """Null where the backend, another machine than this one, says it itself."""
    return QUBITS_MAX if value is None else integer_of(value, "max_qubits", 1, QUBITS_MAX)


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
