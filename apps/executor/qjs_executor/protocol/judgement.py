"""Judges the message that ends a stretch of an execution, where reading it delays no other run.

The child ran a stranger's code, so a message may be built to be slow: 22 MiB of `[],` take seconds and a gigabyte to
read. A small message is read at once. A larger one is read in a process of its own, with limits, and comes back as a
checked report, whose size the child cannot choose.
"""

from __future__ import annotations

import marshal
import re
from dataclasses import dataclass, fields
from typing import Any

from ..job import GIB, KIB, MIB, Job
from .answer import read_answer
from .ask import read_ask
from .bounded_process import OutOfBounds, compute_apart
from .checked_fields import VALUES_MAX, BadAnswer
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
from .strict_json import NotStrictJson, parse_object

AT_ONCE_BYTES_MAX = 64 * KIB
"""A message of this length with as many values as possible takes some 10 ms."""
MEMORY_PER_BYTE = 48
"""A value that takes the least text, `[]` or `{}` and a comma, takes 72 bytes as an object, three characters long; a
message also needs its text twice."""
MEMORY_MAX = GIB

_KINDS = (CircuitReport, ValueReport, TaskReport, CircuitLeftReport, PointsReport, FieldsReport, UserError)
_REPORTS = {kind.__name__: kind for kind in _KINDS}
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


@dataclass(frozen=True)
class Judgement:
    """A checked message: a report, or a request. `problem`: it breaks the rules, and where."""

    report: Report | None = None
    ask: dict[str, Any] | None = None
    problem: str = ""


async def judge(body: bytes, job: Job) -> Judgement:
    """The message as a checked value. Raises OSError when there is no process for it."""
    if len(body) <= AT_ONCE_BYTES_MAX:
        return _judge(body, job)
    memory_bytes = min(64 * MIB + MEMORY_PER_BYTE * len(body), MEMORY_MAX)
    try:
        packed = await compute_apart(lambda: _packed(_judge(body, job)), memory_bytes)
    except OutOfBounds as error:
        return Judgement(problem=f"it takes {error} to read its {len(body)} bytes")
    return _unpacked(packed)


def _judge(body: bytes, job: Job) -> Judgement:
    try:
        if not _may_return_value(job):
            _check_values(body)
        message = parse_object(body)
        ask = message.get("ask")
        if isinstance(ask, dict) and job.script.may_ask:
            return Judgement(ask=read_ask(ask, job))
        return Judgement(report=read_answer(message, job))
    except (BadAnswer, NotStrictJson) as error:
        return Judgement(problem=str(error))


def _may_return_value(job: Job) -> bool:
    """Whether the message may hold a value of the user's own, of any number of values, or a graph, which has bounds of
    its own."""
    return job.kind == "run" and job.runs_code and job.script.task is None


def _check_values(body: bytes) -> None:
    """Counts values by the characters between them, before any is built. Raises BadAnswer."""
    outside = _STRING.sub(b"", body) if b'"' in body else body
    if len(outside) - len(outside.translate(None, b"[{,")) > VALUES_MAX:
        raise BadAnswer(f"it has more than {VALUES_MAX} values")


def _packed(judged: Judgement) -> bytes:
    """For the way back to the process that asked, which trusts it. Text is copied, not parsed again."""
    report = None if judged.report is None else _plain(judged.report)
    return marshal.dumps((report, judged.ask, judged.problem))


def _unpacked(packed: bytes) -> Judgement:
    report, ask, problem = marshal.loads(packed)
    return Judgement(None if report is None else _report(*report), ask, problem)


def _plain(report: Report) -> tuple[str, dict[str, Any]]:
    if isinstance(report, PointsReport):
        return "PointsReport", {"points": [_plain(point) for point in report.points]}
    return type(report).__name__, {field.name: getattr(report, field.name) for field in fields(report)}


def _report(name: str, members: dict[str, Any]) -> Report:
    if name == "PointsReport":
        members = {"points": [_report(*point) for point in members["points"]]}
    return _REPORTS[name](**members)
