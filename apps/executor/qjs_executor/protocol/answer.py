"""Checks what a child reports about its execution. The child ran a stranger's code, so every field is only a claim."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from itertools import zip_longest
from typing import Any

from ..execution_request import SHOTS_MAX
from ..job import ErrorCode, Job
from ..pauli_sums import TERMS_MAX
from ..printed_text import plain
from .checked_fields import (
    VALUES_MAX,
    BadAnswer,
    count_values,
    double,
    integer,
    listed,
    shortened,
    small,
    text,
    value_of,
)
from .mitigated import mitigation_of, quasi_probabilities_of
from .reports import (
    CircuitLeftReport,
    CircuitReport,
    FieldsReport,
    PointsReport,
    Report,
    TaskReport,
    UserError,
    ValueReport,
)

COUNTS_MAX = 100_000
WARNINGS_MAX = 50
WARNING_LENGTH_MAX = 1_000
DIAGRAM_LENGTH_MAX = 64 * 1024
REGISTERS_MAX = 256
CIRCUIT_TEXT_MAX = 4 * 1024 * 1024
RESULT_TEXT_MAX = 64 * 1024 * 1024
"""In characters; the limit of a result is in bytes and is checked later, with a message of its own."""
DISPLAY_MAX = 3 * 1024 * 1024
"""Limit of a task's value for people, which is sent in addition to the value itself."""
STATE_QUBITS_MAX = 20
METADATA_BYTES_MAX = 4 * 1024 * 1024
"""As JSON text, as the limit of the metadata that the caller gives."""
OBSERVABLES_BYTES_MAX = LAYOUT_BYTES_MAX = 1024 * 1024
PROVIDED_MAX = 2**53
RESULT_MEMBERS = ("shots", "backend", "execution_time_ms", "warnings", "stdout")
"""Members of a result that a returned dictionary may replace; the others are the service's own."""
ANALYSIS_FIELDS = (
    "framework",
    "script_type",
    "imports",
    "functions",
    "entry_point",
    "qubits",
    "source_sha256",
    "errors",
    "warnings",
    "requirements",
)
GRAPH_FIELDS = ("name", "nodes", "levels", "output", "dot")
ERROR_CODES: tuple[ErrorCode, ...] = ("execution_error", "unsupported_operation", "language_not_detected", "no_circuit")

_BITS = re.compile(r"[01]{1,256}")
_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
"""NUL as JSON text escapes it, behind an even number of other backslashes."""
_SHA256 = re.compile(r"[0-9a-f]{64}")


def read_answer(answer: dict[str, Any], job: Job) -> Report:
    """The child's last message as a checked value. Raises BadAnswer."""
    if answer.get("ok") is False:
        return _user_error(answer)
    if answer.get("ok") is not True:
        raise BadAnswer("ok")
    if job.points and job.kind == "run":
        return _points(answer, job)
    if "found" in answer and job.source["kind"] == "code":
        return _found(answer["found"])
    if job.kind != "run":
        return FieldsReport(_fields(job, answer))
    if job.script.task is not None:
        return _task_report(answer)
    if "value" in answer:
        return _value_report(answer, job)
    if job.script.finish is not None:
        raise BadAnswer("value")
    return _circuit_report(answer, job)


def _points(answer: dict[str, Any], job: Job) -> PointsReport:
    answers = listed(answer, "points", len(job.points))
    if not answers:
        raise BadAnswer("points")
    reports: list[Any] = []
    for point, one in zip(job.points, answers, strict=False):
        if not isinstance(one, dict):
            raise BadAnswer("points")
        if "value" in one:
            # Stands for itself in the result of a sweep, whatever its members are called.
            one = {**one, "value": {"value": one["value"]}}
        reports.append(read_answer(one, job.at(point)))
    return PointsReport(reports)


def _task_report(answer: dict[str, Any]) -> TaskReport:
    display, problem = answer.get("display"), answer.get("display_problem")
    if display is not None:
        display = text(display, "display", RESULT_TEXT_MAX)
    if problem is not None:
        problem = shortened(text(problem, "display_problem", RESULT_TEXT_MAX))
    if display is not None and len(display) > DISPLAY_MAX:
        display, problem = None, f"its text is longer than {DISPLAY_MAX // 1024 // 1024} MiB"
    result = text(answer.get("result"), "result", RESULT_TEXT_MAX)
    return TaskReport(result, display, problem, _device_shots(answer))


def _value_report(answer: dict[str, Any], job: Job) -> ValueReport:
    value, metadata = answer["value"], _metadata(answer)
    members = value if isinstance(value, dict) else {"result": value}
    members.pop("metadata", None)
    if metadata is not None or job.script.workflow_metadata is not None:
        members.pop("_workflow_metadata", None)
    encoded = json.dumps(members, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        encoded.encode("utf-8")
    except UnicodeEncodeError:
        raise BadAnswer("a lone surrogate") from None
    if "\\u0000" in encoded:
        encoded = _NUL.sub(r"\1\\ufffd", encoded)
    return ValueReport(
        encoded[1:-1],
        [name for name in RESULT_MEMBERS if name in members],
        warnings_of(answer),
        _device_shots(answer),
        metadata,
    )


def _device_shots(answer: dict[str, Any]) -> list[int]:
    given = listed(answer, "device_shots", 2) if "device_shots" in answer else []
    return [integer(shots, "device_shots", 1, SHOTS_MAX) for shots in given]


def _metadata(answer: dict[str, Any]) -> dict[str, Any] | None:
    metadata = answer.get("workflow_metadata")
    if metadata is None:
        return None
    if not isinstance(metadata, dict) or count_values(metadata) > VALUES_MAX:
        raise BadAnswer("workflow_metadata")
    return small(_plain_value(metadata), "workflow_metadata", METADATA_BYTES_MAX)  # type: ignore[no-any-return]


def _circuit_report(answer: dict[str, Any], job: Job) -> CircuitReport:
    digest = answer.get("circuit_sha256")
    if digest is not None and not (isinstance(digest, str) and _SHA256.fullmatch(digest)):
        raise BadAnswer("circuit_sha256")
    circuit = answer.get("circuit")
    if circuit is not None:
        circuit = text(circuit, "circuit", CIRCUIT_TEXT_MAX)
        digest = hashlib.sha256(circuit.encode("utf-8")).hexdigest()
    shots = integer(answer.get("shots", job.params.shots), "shots", 1, SHOTS_MAX)
    registers = registers_of(answer.get("registers"))
    info = _circuit_info(answer.get("circuit_info"))
    info["registers"] = registers
    width = sum(register["size"] for register in registers)
    asked = job.script.circuits == "ask"
    return CircuitReport(
        counts=_counts(answer.get("counts"), width, None if asked else shots),
        circuit_info=info,
        registers=registers,
        circuit_sha256=digest,
        warnings=warnings_of(answer),
        shots=shots,
        circuit=circuit,
        state_vector=_state_vector(answer, info["num_qubits"]),
        expectation_values=_observed(answer, job) if job.params.observables else _expectation_values(answer),
        mitigation=mitigation_of(answer, job),
        quasi_probabilities=quasi_probabilities_of(answer, job),
        observable_groups=_groups(answer) if job.params.observables else None,
        provided=asked,
        workflow_metadata=_metadata(answer),
    )


def _state_vector(answer: dict[str, Any], num_qubits: int) -> list[list[float]] | bytes | None:
    """Amplitudes as pairs, or the bytes of a file for numpy; both have to fit the circuit's size."""
    pairs = answer.get("state_vector")
    if pairs is not None:
        if num_qubits > STATE_QUBITS_MAX or not isinstance(pairs, list) or len(pairs) != 1 << num_qubits:
            raise BadAnswer("state_vector")
        for pair in pairs:
            if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(part, float) for part in pair):
                raise BadAnswer("state_vector: an amplitude")
        return pairs
    encoded = answer.get("state_vector_npy")
    if encoded is None:
        return None
    try:
        content = base64.b64decode(encoded, validate=True)
    except (TypeError, ValueError):
        raise BadAnswer("state_vector_npy") from None
    if num_qubits > STATE_QUBITS_MAX or not content.startswith(b"\x93NUMPY") or len(content) < 16 << num_qubits:
        raise BadAnswer("state_vector_npy")
    return content


def _expectation_values(answer: dict[str, Any]) -> list[dict[str, Any]] | None:
    if answer.get("expectation_values") is None:
        return None
    values: list[dict[str, Any]] = []
    for item in listed(answer, "expectation_values", REGISTERS_MAX):
        if not isinstance(item, dict):
            raise BadAnswer("expectation_values")
        kind = text(item.get("kind"), "expectation_values: kind", 20)
        name = text(item.get("name"), "expectation_values: name", 1000)
        values.append({"name": name, "kind": kind, "value": double(item.get("value"), "expectation_values: value")})
    return values


def _observed(answer: dict[str, Any], job: Job) -> list[dict[str, Any]]:
    """The values of the job's observables, each under the job's own text."""
    items = listed(answer, "expectation_values", len(job.params.observables))
    values: list[dict[str, Any]] = []
    for asked, item in zip_longest(job.params.observables, items):
        if not isinstance(item, dict) or item.get("method") not in ("exact", "sampled"):
            raise BadAnswer("expectation_values")
        raw = {"raw": value_of(item.get("raw"))} if job.params.mitigation is not None else {}
        values.append({"observable": asked, **value_of(item), "method": item["method"], **raw})
    return values


def _groups(answer: dict[str, Any]) -> int | None:
    groups = answer.get("observable_groups")
    return None if groups is None else integer(groups, "observable_groups", 0, TERMS_MAX)


def _found(found: Any) -> CircuitLeftReport:
    if not isinstance(found, dict):
        raise BadAnswer("found")
    names = found.get("register_names")
    if names is not None:
        names = [text(name, "found: register_names", 200) for name in listed(found, "register_names", REGISTERS_MAX)]
    return CircuitLeftReport(
        openqasm3=text(found.get("openqasm3"), "found: openqasm3", CIRCUIT_TEXT_MAX),
        facts={"register_names": names, "observables": observables_of(found, "found: observables")},
        warnings=warnings_of(found),
    )


def observables_of(facts: dict[str, Any], where: str) -> list[Any] | None:
    """The observables of a circuit, which only another child reads. Raises BadAnswer."""
    observables = facts.get("observables")
    if observables is None:
        return None
    if not isinstance(observables, list) or count_values(observables) > VALUES_MAX:
        raise BadAnswer(where)
    return small(_plain_value(observables), where, OBSERVABLES_BYTES_MAX)  # type: ignore[no-any-return]


def _fields(job: Job, answer: dict[str, Any]) -> dict[str, Any]:
    """The fields of an answer that gives no counts."""
    match job.kind:
        case "convert":
            return {
                "qasm": text(answer.get("openqasm3"), "openqasm3", CIRCUIT_TEXT_MAX),
                "circuit_info": {**_circuit_info(answer.get("circuit_info")), "registers": []},
                "warnings": warnings_of(answer),
            }
        case "compile":
            canonical = answer.get("openqasm3")
            registers = registers_of(answer.get("registers"))
            layout = {"layout": _plain_value(answer["layout"])} if "layout" in answer else {}
            describe = _analog_info if job.source.get("format") == "ahs" else _circuit_info
            return {
                **_plain_fields(answer, ("format", "program", "media_type", "qubits", "readout")),
                **small(layout, "layout", LAYOUT_BYTES_MAX),
                "qasm": None if canonical is None else text(canonical, "openqasm3", CIRCUIT_TEXT_MAX),
                "circuit_info": {**describe(answer.get("circuit_info")), "registers": registers},
                "warnings": warnings_of(answer),
            }
        case "engines":
            return _plain_fields(answer, ("engines",))
        case "analyse":
            return _plain_fields(answer, ANALYSIS_FIELDS)
        case "capture":
            return _plain_fields(answer, GRAPH_FIELDS)
        case _:
            return {"framework": text(answer.get("framework"), "framework", 40)}


def _plain_fields(answer: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The named fields, with every text in them made plain. Only the caller knows their shape: nothing here reads
    them."""
    for name in names:
        if name not in answer:
            raise BadAnswer(name)
    return {name: _plain_value(answer[name]) for name in names}


def _plain_value(value: Any) -> Any:
    # The frame reader has bounded the depth.
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, list):
        return [_plain_value(item) for item in value]
    if isinstance(value, dict):
        return {plain(key): _plain_value(item) for key, item in value.items()}
    return value


def warnings_of(answer: dict[str, Any]) -> list[str]:
    """The warnings of an answer. Raises BadAnswer."""
    return [text(item, "warnings", WARNING_LENGTH_MAX) for item in listed(answer, "warnings", WARNINGS_MAX)]


def _user_error(answer: dict[str, Any]) -> UserError:
    code = answer.get("code")
    message = answer.get("message")
    line = answer.get("line")
    if code not in ERROR_CODES or not isinstance(message, str):
        raise BadAnswer("code or message")
    if line is not None:
        line = integer(line, "line", 1, 10_000_000)
    return UserError(code, shortened(message), line)


def _counts(counts: Any, width: int, shots: int | None) -> dict[str, int]:
    """Bit strings of one width with their counts, which add up to the shots; sorted, so that equal results are equal
    texts. None: the shots were taken elsewhere, where some may have been lost."""
    if not isinstance(counts, dict) or not 1 <= len(counts) <= COUNTS_MAX:
        raise BadAnswer("counts")
    for key, count in counts.items():
        if len(key) != width or not _BITS.fullmatch(key):
            raise BadAnswer("counts: a key")
        integer(count, "counts: a value", 0, PROVIDED_MAX if shots is None else shots)
    if shots is not None and sum(counts.values()) != shots:
        raise BadAnswer("counts: their sum is not the shots")
    return dict(sorted(counts.items()))


def registers_of(value: Any) -> list[dict[str, Any]]:
    """Registers with name, size and perhaps qubits. Raises BadAnswer."""
    if not isinstance(value, list) or not 1 <= len(value) <= REGISTERS_MAX:
        raise BadAnswer("registers")
    registers: list[dict[str, Any]] = []
    for item in value:
        if not isinstance(item, dict):
            raise BadAnswer("registers")
        register: dict[str, Any] = {
            "name": text(item.get("name"), "registers: name", 200),
            "size": integer(item.get("size"), "registers: size", 1, 256),
        }
        qubits = item.get("qubits")
        if qubits is not None:
            if not isinstance(qubits, list) or len(qubits) != register["size"]:
                raise BadAnswer("registers: qubits")
            register["qubits"] = [integer(qubit, "registers: qubits", 0, 1_000_000) for qubit in qubits]
        registers.append(register)
    return registers


def _analog_info(value: Any) -> dict[str, Any]:
    """Facts about an analog program."""
    if not isinstance(value, dict) or not isinstance(value.get("has_local_detuning"), bool):
        raise BadAnswer("circuit_info")
    return {
        "num_qubits": integer(value.get("num_qubits"), "circuit_info.num_qubits", 1, 256),
        "num_atoms": integer(value.get("num_atoms"), "circuit_info.num_atoms", 0, 256),
        "duration_seconds": double(value.get("duration_seconds"), "circuit_info.duration_seconds"),
        "has_local_detuning": value["has_local_detuning"],
    }


def _circuit_info(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadAnswer("circuit_info")
    gate_counts = value.get("gate_counts")
    if not isinstance(gate_counts, dict) or len(gate_counts) > 1_000:
        raise BadAnswer("circuit_info.gate_counts")
    mid_circuit = value.get("has_mid_circuit_measurement")
    if not isinstance(mid_circuit, bool):
        raise BadAnswer("circuit_info.has_mid_circuit_measurement")

    def number(name: str) -> int:
        return integer(value.get(name), f"circuit_info.{name}", 0, 2**53)

    return {
        "num_qubits": number("num_qubits"),
        "num_clbits": number("num_clbits"),
        "depth": number("depth"),
        "size": number("size"),
        "gate_counts": {
            plain(name)[:200]: integer(count, "circuit_info.gate_counts", 0, 2**53)
            for name, count in gate_counts.items()
        },
        "two_qubit_gates": number("two_qubit_gates"),
        "num_measurements": number("num_measurements"),
        "has_mid_circuit_measurement": mid_circuit,
        "diagram": text(value.get("diagram"), "circuit_info.diagram", DIAGRAM_LENGTH_MAX),
    }
