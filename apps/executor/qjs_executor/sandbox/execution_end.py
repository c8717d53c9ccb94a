"""Waits for the end of an execution and turns it into an outcome."""

from __future__ import annotations

import asyncio
import re
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ..isolation.confinement import FILE_BYTES_MAX
from ..isolation.folder_watch import BYTES_MAX, FILES_MAX
from ..isolation.output import Output
from ..job import (
    ASKS_MAX,
    GIB,
    KIB,
    MIB,
    Artifact,
    Asked,
    CircuitLeft,
    Completed,
    Failed,
    Job,
    Limits,
    Lost,
    Outcome,
    Point,
    PointsRun,
    QuestionAnswer,
    Returned,
    SandboxFault,
)
from ..printed_text import plain
from ..protocol.frame_reader import BadFrame, read_body, read_frame
from ..protocol.judgement import judge
from ..protocol.reports import (
    CircuitLeftReport,
    CircuitReport,
    FieldsReport,
    PointsReport,
    Report,
    TaskReport,
    UserError,
    ValueReport,
)
from ..protocol.result import STATE_VECTOR_FILE, result_text, value_text
from .pooled_child import PooledChild

if TYPE_CHECKING:
    from .live_execution import LiveExecution

HANDSHAKE_BYTES_MAX = 64 * KIB
ANSWER_HEADROOM_BYTES = 1 * MIB
"""Room for counts, facts and the circuit, in addition to a state vector in base64."""
EXIT_SECONDS = 3.0
"""A child that has closed its result pipe is about to exit; one that does not is killed after this time. A busy machine
takes seconds to free the memory of one that its limit has killed."""

FREE_SECONDS = 2.0
"""After its answer a task should exit at once; a host whose task does not is killed with it."""
NO_ANSWER = "it closed its result channel"

_DISK_LIMIT = (
    f"disk limit: the files of a run may have {BYTES_MAX // MIB} MiB and number {FILES_MAX:,}, and one of them"
    f" {FILE_BYTES_MAX // MIB} MiB"
)
_OUT_OF_MEMORY = re.compile(rb"memory allocation of \d+ bytes failed|std::bad_alloc|MemoryError|Cannot allocate memory")
"""The messages that the libraries print before they abort because memory ran out."""


@dataclass(frozen=True)
class ExecutionEnd:
    """The plain facts of an ended execution, or of its stretch up to a request; `detail` belongs to `bad_answer` and
    `unread`, `status` to `exited`. `unread`: the executor could not read the message."""

    kind: Literal["answered", "asked", "too_many_asks", "bad_answer", "unread", "exited", "time_limit", "flood"]
    seconds: float
    report: Report | None = None
    ask: dict[str, Any] | None = None
    detail: str = ""
    status: tuple[str, int] | None = None


async def listen(child: PooledChild, job: Job, limits: Limits, accepted: Callable[[], None]) -> ExecutionEnd:
    """Sends the job to the child, or to a process of the host that the child is, and waits for its end. Raises
    SandboxFault when the child does not take the job."""
    try:
        async with asyncio.timeout(limits.start_seconds):
            reader = await child.open()
            await child.send(job.execution_request, answers_follow=job.script.may_ask)
            first = await read_frame(reader, HANDSHAKE_BYTES_MAX)
    except (TimeoutError, BadFrame) as error:
        raise SandboxFault(f"the child did not take its job: {error or 'it took too long'}") from error
    if first is None or first.get("taken") != {"uid": child.uid}:
        raise SandboxFault(f"the child did not take its job: {(first or {}).get('fault', 'it exited')}")
    accepted()
    return await _end(child, reader, job, limits)


async def answer_and_listen(child: PooledChild, job: Job, limits: Limits) -> ExecutionEnd:
    """Sends a waiting child the job's one answer, and waits for its next message."""
    writing = asyncio.create_task(child.write({"answer": job.script.answers[0]}))
    try:
        end = await _end(child, await child.open(), job, limits)
        if end.kind == "asked" and not writing.done():
            end = ExecutionEnd("bad_answer", 0, detail="it made a request before it had read its answer")
    finally:
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
    return end


def _message_bytes_max(job: Job, limits: Limits) -> int:
    """JSON text within JSON can take four times its size."""
    if job.script.may_ask or job.script.task is not None:
        return 4 * limits.result_bytes + ANSWER_HEADROOM_BYTES
    return limits.result_bytes // 3 * 4 + ANSWER_HEADROOM_BYTES


async def _end(child: PooledChild, reader: asyncio.StreamReader, job: Job, limits: Limits) -> ExecutionEnd:
    started = time.monotonic()
    end, message = await _ended(child, reader, job, limits)
    end = replace(end, seconds=time.monotonic() - started)
    if message is None:
        return end
    try:
        judged = await judge(message, job)
    except OSError as error:
        return replace(end, kind="unread", detail=str(error))
    if judged.problem:
        return replace(end, kind="bad_answer", detail=judged.problem)
    return replace(end, kind="asked" if judged.ask is not None else "answered", report=judged.report, ask=judged.ask)


async def _ended(
    child: PooledChild, reader: asyncio.StreamReader, job: Job, limits: Limits
) -> tuple[ExecutionEnd, bytes | None]:
    """How an execution ended, and its last message unparsed."""
    answer = asyncio.create_task(_answer(reader, _message_bytes_max(job, limits), child.is_host))
    flood = asyncio.create_task(child.flooded())
    try:
        done, _ = await asyncio.wait([answer, flood], timeout=limits.wall_seconds, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            return ExecutionEnd("time_limit", 0), None
        if answer not in done:
            return ExecutionEnd("flood", 0), None
        message = answer.result()
    except BadFrame as error:
        return ExecutionEnd("bad_answer", 0, detail=str(error)), None
    except _Ended as ended:
        if ended.status[0] == "open":
            return ExecutionEnd("bad_answer", 0, detail=NO_ANSWER), None
        return ExecutionEnd("exited", 0, status=await child.status_with_memory(ended.status)), None
    finally:
        for task in (answer, flood):
            task.cancel()
        await asyncio.gather(answer, flood, return_exceptions=True)
    if message is not None:
        return ExecutionEnd("answered", 0), message
    try:
        async with asyncio.timeout(EXIT_SECONDS):
            return ExecutionEnd("exited", 0, status=await child.exit_status()), None
    except TimeoutError:
        return ExecutionEnd("bad_answer", 0, detail=NO_ANSWER), None


class _Ended(Exception):
    """A host's task exited without an answer, with this status."""

    def __init__(self, status: tuple[str, int]) -> None:
        self.status = status


async def _answer(reader: asyncio.StreamReader, bytes_max: int, hosted: bool) -> bytes | None:
    """The message that ends an execution; a host first reports whether there is one. Raises BadFrame and _Ended."""
    if hosted:
        message = await read_frame(reader, HANDSHAKE_BYTES_MAX)
        if message is not None and "ended" in message:
            raise _Ended((message["ended"][0], message["ended"][1]))
    return await read_body(reader, bytes_max)


async def is_free_again(child: PooledChild) -> bool:
    """Waits until a host can take the next task; False when the last one left something behind, or does not exit."""
    try:
        async with asyncio.timeout(FREE_SECONDS):
            message = await read_frame(await child.open(), HANDSHAKE_BYTES_MAX)
    except (TimeoutError, BadFrame):
        return False
    return message is not None and "free" in message


def outcome_of(end: ExecutionEnd, job: Job, limits: Limits, run: LiveExecution, note: str = "") -> Outcome:
    """The outcome of an ended execution, or of its stretch. The child's claims are checked here, so callers can trust
    the outcome. `note`: a warning of the executor itself about every execution."""
    first = job.first_stage
    run.seconds += end.seconds
    milliseconds = round(run.seconds * 1000 + (first.execution_time_ms if first else 0), 3)
    stdout, stderr = run.child.stdout, run.child.stderr
    printed = (first.stdout if first else "") + plain(stdout.kept.decode("utf-8", "replace"))

    def failed(message: str) -> Failed:
        return Failed(milliseconds, "execution_error", message, None, printed)

    if end.kind == "flood" or stdout.total > limits.flood_bytes or stderr.total > limits.flood_bytes:
        return failed(f"output limit of {limits.flood_bytes // MIB} MiB: the code printed more than that")
    if end.kind == "time_limit":
        return failed(_time_limit(limits))
    if end.kind == "too_many_asks":
        return failed(f"limit of {ASKS_MAX} requests: the script requests more graphs and circuits than that")
    if end.kind == "bad_answer":
        return failed(f"crashed: bad result ({end.detail})")
    if end.kind == "unread":
        return Lost(f"the result could not be read: {end.detail}")
    if end.ask is not None:
        return Asked(milliseconds, end.ask, parked=False, stdout=printed)
    answer = end.report
    if answer is None:
        return _exited(end, limits, stderr, failed)
    if isinstance(answer, CircuitReport) and answer.provided:
        provenance = run.provenance_of(answer)
        if provenance is None:
            return failed("crashed: bad result (counts: not those that the backend gave for this circuit)")
        answer = replace(answer, provenance=provenance)
    if isinstance(answer, UserError):
        message = memory_limit(limits) if answer.message == "MemoryError" else answer.message
        return Failed(milliseconds, answer.code, message, answer.line, printed)
    if isinstance(answer, PointsReport):
        points = zip(job.points, answer.points, strict=False)
        outcomes = [_of_point(report, job.at(point), point, limits, note) for point, report in points]
        return PointsRun(milliseconds, outcomes, printed)
    if isinstance(answer, TaskReport):
        size = len(answer.result.encode("utf-8"))
        if size > limits.result_bytes:
            return failed(f"result of {size} bytes is larger than the limit of {limits.result_bytes // MIB} MiB")
        return Returned(
            milliseconds, answer.result, answer.display, answer.display_problem, printed, answer.device_shots
        )
    if isinstance(answer, FieldsReport):
        return QuestionAnswer(milliseconds, answer.fields)
    warnings = [note] if note and first is None else []
    warnings += [f"output was cut after {limits.output_bytes // KIB} KiB"] if stdout.truncated else []
    if isinstance(answer, CircuitLeftReport):
        return CircuitLeft(milliseconds, answer.openqasm3, answer.facts, [*warnings, *answer.warnings], printed)
    warnings += first.warnings if first else []
    if isinstance(answer, ValueReport):
        text = value_text(job, answer, milliseconds, printed, warnings)
    else:
        text = result_text(job, answer, milliseconds, printed, warnings)
    size = len(text.encode("utf-8"))
    if size > limits.result_bytes:
        return failed(f"result of {size} bytes is larger than the limit of {limits.result_bytes // MIB} MiB")
    return Completed(milliseconds, text, _artifacts(answer, printed))


def _of_point(
    report: CircuitReport | ValueReport | CircuitLeftReport | UserError,
    job: Job,
    point: Point,
    limits: Limits,
    note: str,
) -> Completed | Failed | CircuitLeft:
    """The outcome of one point of a sweep: as that of a single run, without files and without a time of its own."""
    if isinstance(report, UserError):
        message = memory_limit(limits) if report.message == "MemoryError" else report.message
        return Failed(0.0, report.code, message, report.line)
    warnings = [*([note] if note and job.first_stage is None else []), *point.warnings]
    if isinstance(report, CircuitLeftReport):
        return CircuitLeft(0.0, report.openqasm3, report.facts, [*warnings, *report.warnings], "")
    if isinstance(report, ValueReport):
        return Completed(None, value_text(job, report, None, "", warnings))
    if isinstance(report.state_vector, bytes):
        message = "extract_state_vector: in a sweep up to 14 qubits; submit the point as a job of its own"
        return Failed(0.0, "unsupported_operation", message)
    return Completed(None, result_text(job, report, None, "", warnings))


_TEXT = "text/plain; charset=utf-8"


def _artifacts(run: CircuitReport | ValueReport, printed: str) -> list[Artifact]:
    files = [Artifact("stdout.txt", _TEXT, printed.encode("utf-8"))] if printed else []
    if isinstance(run, ValueReport):
        return files
    if run.circuit is not None:
        files.append(Artifact("circuit.qasm", _TEXT, run.circuit.encode("utf-8")))
    if isinstance(run.state_vector, bytes):
        files.append(Artifact(STATE_VECTOR_FILE, "application/octet-stream", run.state_vector))
    return files


def _exited(end: ExecutionEnd, limits: Limits, stderr: Output, failed: Callable[[str], Failed]) -> Outcome:
    if end.status is None:
        return Lost("the run's zygote died")
    kind, number = end.status
    if kind == "memory":
        return failed(memory_limit(limits))
    if kind == "signal" and number in (signal.SIGXCPU, signal.SIGKILL) and end.seconds >= limits.wall_seconds:
        return failed(_time_limit(limits))
    if kind == "signal" and number == signal.SIGXFSZ:
        return failed(_DISK_LIMIT)
    if number != 0 and _OUT_OF_MEMORY.search(stderr.kept):
        return failed(memory_limit(limits))
    if kind == "signal" and number == signal.SIGXCPU:
        return failed(f"{_time_limit(limits)} of processor time")
    return failed(f"crashed: {'signal' if kind == 'signal' else 'exit code'} {number}")


def _time_limit(limits: Limits) -> str:
    return f"time limit of {limits.wall_seconds:g} s"


def memory_limit(limits: Limits) -> str:
    """The message for an execution that exceeded its memory."""
    return f"memory limit of {limits.memory_bytes // GIB} GiB"
