"""The script members of POST /run: who executes graphs and circuits, which answers there are, and whether a task of a
graph or the end of a workflow is wanted instead of the source."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any

from ..execution_request import SHOTS_MAX, Where
from ..job import ASKS_MAX, MIB, Script
from ..protocol.ask import NAME_MAX, TASKS_MAX, counts_of
from ..protocol.strict_json import NotStrictJson, parse_any
from .request_fields import InvalidRequest, integer_of, number_of, object_of, refuse, text_of

BODY_BYTES_MAX = 64 * MIB
"""Limit of a body that contains values; each is at most a result, and a task takes several."""
VALUES_CHARACTERS_MAX = 32 * MIB
FUNCTION_MAX = 16 * MIB
TEXT_MAX = 16 * MIB
INPUT_MAX = MIB
METADATA_MAX = 4 * MIB
ERROR_MAX = 64 * 1024
SEED_MAX = 2**63 - 1
NOW_MAX = 253_402_300_799.0
"""The last second of the year 9999, which is where Python's dates end."""
MODELS = ("native_workflow", "single_task")
COUNT_SOURCES = ("provider_counts", "provider_measurements", "probability_derived")
LARGE_KEYS = ("task", "finish", "answers")
"""Members that may make a body larger than others."""

_NODE_ID = re.compile(r"task_\d{4}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_ENTRYPOINT = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


def script_of(request: dict[str, Any]) -> Script:
    """Parses the script members of a body. Raises InvalidRequest."""
    graphs, circuits = _where(request, "graphs"), _where(request, "circuits")
    begin = request.get("script")
    if begin is not None:
        begin = object_of(begin, "script", ("seed", "now"))
    elif "ask" in (graphs, circuits):
        refuse(
            "script", "must be an object with seed and now, since a script that makes requests may be repeated", None
        )
    chosen = [name for name in ("task", "finish", "entry") if request.get(name) is not None]
    # A caller may repeat the entry that it finishes.
    if len(chosen) > 1 and chosen != ["finish", "entry"]:
        raise InvalidRequest(f"{chosen[1]}: excludes {chosen[0]}; give one of them")
    seed = now = None
    if begin is not None:
        seed = integer_of(begin["seed"], "script.seed", 0, SEED_MAX)
        now = number_of(begin["now"], "script.now", 0, NOW_MAX)
    answers = _answers(request.get("answers"))
    script = Script(
        graphs=graphs,
        circuits=circuits,
        seed=seed,
        now=now,
        entry=_optional(request, "entry", _entry),
        answers=answers,
        task=_optional(request, "task", _task),
        finish=_optional(request, "finish", _finish),
        workflow_metadata=_optional(request, "workflow_metadata", _metadata),
        resume=_optional(request, "resume", _resume),
        task_shots=_optional(request, "task_shots", _task_shots),
        task_of=_optional(request, "task_of", lambda job: text_of(job, "task_of", 100)),
    )
    if script.task_of is not None and script.task is None:
        raise InvalidRequest("task_of: belongs to a run of one task")
    if answers and not script.may_ask:
        refuse("answers", "belong to a run with graphs or circuits set to ask", f"{len(answers)} answers")
    if script.resume is not None and (len(answers) != 1 or not script.may_ask):
        refuse("answers", "must be the one answer that the parked run waits for", f"{len(answers)} answers")
    return script


def _where(request: dict[str, Any], name: str) -> Where:
    match request.get(name, "here"):
        case "here":
            return "here"
        case "ask":
            return "ask"
        case other:
            refuse(name, "must be here or ask", other)


def _optional(request: dict[str, Any], name: str, parse: Callable[[Any], Any]) -> Any:
    value = request.get(name)
    return None if value is None else parse(value)


def _resume(resume: Any) -> str:
    return text_of(object_of(resume, "resume", ("run_id",))["run_id"], "resume.run_id", 100)


def _answers(answers: Any) -> list[dict[str, Any]]:
    if answers is None:
        return []
    if not isinstance(answers, list) or len(answers) > ASKS_MAX:
        refuse("answers", f"must be a list of at most {ASKS_MAX}", type(answers).__name__)
    return [_answer(answer, f"answers[{place}]") for place, answer in enumerate(answers)]


def _answer(answer: Any, where: str) -> dict[str, Any]:
    """{digest, values, metadata} | {digest, counts, count_source?, provider_job_id?} | {digest, error}."""
    keys = set(answer) if isinstance(answer, dict) else set()
    kinds = keys & {"values", "counts", "error"}
    beside = {"values": {"metadata"}, "counts": {"count_source", "provider_job_id"}}
    if len(kinds) != 1 or not keys <= {"digest"} | kinds.union(*(beside.get(kind, set()) for kind in kinds)):
        refuse(where, "must be an object with digest and one of values, counts and error", sorted(keys))
    digest = answer.get("digest")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        refuse(f"{where}.digest", "must be 64 characters of 0-9 and a-f", digest)
    if "values" in answer:
        metadata = answer.get("metadata")
        return {
            "digest": digest,
            "values": _values(answer["values"], f"{where}.values"),
            "metadata": None if metadata is None else text_of(metadata, f"{where}.metadata", METADATA_MAX),
        }
    if "error" in answer:
        return {"digest": digest, "error": text_of(answer["error"], f"{where}.error", ERROR_MAX)}
    try:
        counts_of({"counts": text_of(answer["counts"], f"{where}.counts", TEXT_MAX)})
    except ValueError as error:
        raise InvalidRequest(f"{where}.counts: {error}") from None
    return {"digest": digest, "counts": answer["counts"], **_provenance(answer, where)}


def _provenance(answer: dict[str, Any], where: str) -> dict[str, str]:
    """Where counts come from, as far as the caller reports it."""
    provenance: dict[str, str] = {}
    source, provider_job_id = answer.get("count_source"), answer.get("provider_job_id")
    if source is not None:
        if source not in COUNT_SOURCES:
            refuse(f"{where}.count_source", f"must be one of {', '.join(COUNT_SOURCES)}", source)
        provenance["count_source"] = source
    if provider_job_id is not None:
        provenance["provider_job_id"] = text_of(provider_job_id, f"{where}.provider_job_id", 500)
    return provenance


def _values(values: Any, where: str) -> dict[str, str]:
    """The JSON texts of tasks' values, by task."""
    if not isinstance(values, dict) or len(values) > TASKS_MAX:
        refuse(where, f"must be an object of at most {TASKS_MAX} values", type(values).__name__)
    size = 0
    for node_id, value in values.items():
        if not _NODE_ID.fullmatch(node_id):
            refuse(f"{where} (a key)", "must be the id of a task, such as task_0001", node_id)
        size += len(text_of(value, f"{where}.{node_id}", VALUES_CHARACTERS_MAX))
    if size > VALUES_CHARACTERS_MAX:
        refuse(where, f"must have at most {VALUES_CHARACTERS_MAX // MIB} MiB together", f"{size} characters")
    return dict(values)


def _entry(entry: Any) -> dict[str, Any]:
    entry = object_of(entry, "entry", ("model", "entrypoint", "input"))
    if entry["model"] not in MODELS:
        refuse("entry.model", f"must be one of {', '.join(MODELS)}", entry["model"])
    if not isinstance(entry["entrypoint"], str) or not _ENTRYPOINT.fullmatch(entry["entrypoint"]):
        refuse("entry.entrypoint", "must be a name of at most 128 letters, digits and _", entry["entrypoint"])
    return {**entry, "input": text_of(entry["input"], "entry.input", INPUT_MAX)}


def _task(task: Any) -> dict[str, Any]:
    task = object_of(task, "task", ("function", "name", "arguments", "values"))
    function = text_of(task["function"], "task.function", FUNCTION_MAX)
    try:
        base64.b64decode(function, validate=True)
    except (binascii.Error, ValueError):
        refuse("task.function", "must be base64", function)
    return {
        "function": function,
        "name": text_of(task["name"], "task.name", NAME_MAX),
        "arguments": text_of(task["arguments"], "task.arguments", TEXT_MAX),
        "values": _values(task["values"], "task.values"),
    }


def _task_shots(shots: Any) -> list[int]:
    if not isinstance(shots, list) or len(shots) > 2:
        refuse("task_shots", "must be a list of at most two numbers", shots)
    return [integer_of(number, "task_shots", 1, SHOTS_MAX) for number in shots]


def _finish(finish: Any) -> dict[str, Any]:
    finish = object_of(finish, "finish", ("name", "output", "values"))
    return {
        "name": text_of(finish["name"], "finish.name", NAME_MAX),
        "output": text_of(finish["output"], "finish.output", TEXT_MAX),
        "values": _values(finish["values"], "finish.values"),
    }


def _metadata(metadata: Any) -> str:
    text = text_of(metadata, "workflow_metadata", METADATA_MAX)
    try:
        value = parse_any(text)
    except NotStrictJson as error:
        raise InvalidRequest(f"workflow_metadata: must be JSON of an object ({error})") from None
    if not isinstance(value, dict):
        refuse("workflow_metadata", "must be JSON of an object", text)
    return text
