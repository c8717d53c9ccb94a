"""The body of POST /run, parsed once into a job and its limits, which later code can trust.

The user's code and circuit stay opaque strings here: only the child reads them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..device_figures import Figures, UnknownDevice, resolved
from ..execution_request import ENGINES, SHOTS_MAX
from ..job import Job, JobParams, Limits, Point, Script
from ..mitigation import NotMitigation
from ..mitigation import read as read_mitigation
from ..pauli_sums import NotAnObservable, read_all
from .lanes import Lane
from .request_fields import InvalidRequest, integer_of, number_of, refuse, text_of
from .script_request import script_of

BODY_BYTES_MAX = 4 * 1024 * 1024
TEXT_MAX = 1024 * 1024
"""Code points of a circuit payload or script; the API applies the same limit."""
SEED_MAX = 2**63 - 1
"""The simulator takes a signed 64-bit seed."""
WALL_SECONDS_MIN = 0.1
WALL_SECONDS_MAX = 900
TASK_SECONDS_MAX = 7 * 86_400
"""The most that a task may be given; each stretch between two requests gets at most WALL_SECONDS_MAX."""
QUBITS_MAX = 256
POINTS_MAX = 1_000
KEY_MAX = 100
REQUEST_ID_MAX = 200
FILES_URL_MAX = 300

FRAMEWORKS = ("qiskit", "cirq", "pennylane", "openqasm", "marqov", "auto")
FORMATS = ("qasm2", "qasm3")
ANALOG = "ahs"
"""The format of analog programs, which only devices of providers run."""


def parse_run_request(request: dict[str, Any], defaults: Limits) -> tuple[Job, Limits, Lane]:
    """Parses the body of a request into a job, its limits and its lane. Raises InvalidRequest."""
    source = source_of(request.get("source"))
    engine = text_of(request.get("engine"), "engine", 40)
    if engine not in ENGINES:
        refuse("engine", f"must be one of {', '.join(ENGINES)}", engine)
    script = script_of(request)
    # A task has the limit that its author wrote, which may be days, or nearly nothing.
    least, most = (0.0, TASK_SECONDS_MAX) if script.task else (WALL_SECONDS_MIN, WALL_SECONDS_MAX)
    wall = wall_seconds_of(request, defaults.wall_seconds, most, least)
    wall = min(max(wall, WALL_SECONDS_MIN), WALL_SECONDS_MAX)
    lane = lane_of(request)
    job = Job(
        run_id=text_of(request.get("run_id"), "run_id", 100),
        source=source,
        backend=text_of(request.get("backend"), "backend", 100),
        engine=engine,
        max_qubits=_max_qubits(request.get("max_qubits")),
        params=params_of(request.get("params")),
        points=_points(request, source, script),
        script=script,
        files_url=_files_url(request.get("files_url")),
        owner=lane.team,
        request_id=request_id_of(request),
    )
    return job, replace(defaults, wall_seconds=wall), lane


def _points(request: dict[str, Any], source: dict[str, str], script: Script) -> list[Point]:
    """The runs of a sweep. Raises InvalidRequest naming the point."""
    points = request.get("points")
    if points is None:
        return []
    if not isinstance(points, list) or not 1 <= len(points) <= POINTS_MAX:
        refuse(
            "points", f"must be a list of 1 to {POINTS_MAX} points", len(points) if isinstance(points, list) else points
        )
    if script != Script():
        refuse("points", "must stand without the members of a script", sorted(request))
    return [_point(point, f"points[{place}]", request["params"], source) for place, point in enumerate(points)]


def _point(point: Any, where: str, params: dict[str, Any], source: dict[str, str]) -> Point:
    if not isinstance(point, dict) or set(point) - {"params", "circuit"}:
        refuse(where, "must be an object with params, circuit or both", point)
    own = point.get("params", {})
    if not isinstance(own, dict):
        refuse(f"{where}.params", "must be an object", own)
    circuit = point.get("circuit")
    if circuit is not None and (not isinstance(circuit, dict) or source["kind"] != "circuit"):
        refuse(f"{where}.circuit", "must be an object, in a job whose source is a circuit", circuit)
    try:
        return Point(
            params_of({**params, **own}), None if circuit is None else source_of({**circuit, "kind": "circuit"})
        )
    except InvalidRequest as error:
        raise InvalidRequest(f"{where}: {error}") from None


def wall_seconds_of(request: dict[str, Any], default: float, most: float, least: float = WALL_SECONDS_MIN) -> float:
    """How long a request may take: `limits.wall_seconds`. Raises InvalidRequest."""
    limits = request.get("limits", {})
    if not isinstance(limits, dict):
        refuse("limits", "must be an object", limits)
    return number_of(limits.get("wall_seconds", default), "limits.wall_seconds", least, most)


def request_id_of(request: dict[str, Any]) -> str | None:
    """The request of a client that this one belongs to. Raises InvalidRequest."""
    value = request.get("request_id")
    return None if value is None else text_of(value, "request_id", REQUEST_ID_MAX)


def lane_of(request: dict[str, Any]) -> Lane:
    """The lane of a request and the keys of its user and team. Raises InvalidRequest."""
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


def source_of(source: Any, analog: bool = False) -> dict[str, str]:
    """A source: a framework's code, or a circuit; or an analog program, where one is of use. Raises InvalidRequest."""
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
        if form == ANALOG and not analog:
            refuse("source.format", f"must be one of {', '.join(FORMATS)}: no engine here runs analog programs", form)
        if form not in (*FORMATS, ANALOG):
            refuse("source.format", f"must be one of {', '.join((*FORMATS, ANALOG) if analog else FORMATS)}", form)
        return {"kind": kind, "format": form, "payload": text_of(source.get("payload"), "source.payload", TEXT_MAX)}
    refuse("source.kind", "must be code or circuit", kind)


def _files_url(value: Any) -> str | None:
    return None if value is None else text_of(value, "files_url", FILES_URL_MAX)


def _max_qubits(value: Any) -> int:
    """Null where the backend is another machine, which checks this itself."""
    return QUBITS_MAX if value is None else integer_of(value, "max_qubits", 1, QUBITS_MAX)


def params_of(params: Any) -> JobParams:
    """Parses the parameters of a job. Raises InvalidRequest."""
    if not isinstance(params, dict):
        refuse("params", "must be an object", params)
    shots = integer_of(params.get("shots"), "params.shots", 1, SHOTS_MAX)
    seed, level, noise = params.get("seed"), params.get("optimization_level"), params.get("noise_model")
    figures: Figures | None = None
    if noise is not None:
        if not isinstance(noise, dict):
            refuse("params.noise_model", "must be an object", noise)
        try:
            noise, figures = resolved(noise)
        except UnknownDevice as error:
            refuse("params.noise_model.like", str(error), noise["like"])
    extract = params.get("extract_state_vector", False)
    if not isinstance(extract, bool):
        refuse("params.extract_state_vector", "must be true or false", extract)
    method = params.get("observables_method")
    if method not in (None, "exact", "sampled"):
        refuse("params.observables_method", "must be exact or sampled", method)
    mitigation = params.get("mitigation")
    if mitigation is not None:
        _check_mitigation(params)
    # With noise every gate counts, so the circuit is left as written unless the job sets it.
    default_level = 1 if noise is None else 0
    return JobParams(
        shots=shots,
        seed=None if seed is None else integer_of(seed, "params.seed", 0, SEED_MAX),
        optimization_level=default_level if level is None else integer_of(level, "params.optimization_level", 0, 3),
        noise_model=noise,
        noise_figures=figures,
        extract_state_vector=extract,
        observables=_observables(params.get("observables")),
        observables_method=method,
        mitigation=mitigation,
        given=params,
    )


def _check_mitigation(params: dict[str, Any]) -> None:
    try:
        asked = read_mitigation(params["mitigation"])
    except NotMitigation as error:
        raise InvalidRequest(f"params.{error}") from None
    if params.get("observables_method") == "exact":
        refuse("params.observables_method", "cannot be exact with mitigation, which takes shots", "exact")
    if asked.zne is not None and params.get("observables") is None:
        refuse("params.mitigation.zne", "needs params.observables, whose values it extrapolates", None)
    if asked.zne is not None and params.get("optimization_level"):
        refuse(
            "params.optimization_level",
            "must be 0 with mitigation.zne, because an optimizer removes folded gates",
            params["optimization_level"],
        )


def _observables(value: Any) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        refuse("params.observables", "must be a list of texts", value)
    try:
        read_all(value)
    except NotAnObservable as error:
        raise InvalidRequest(f"params.observables: {error}") from None
    return value
