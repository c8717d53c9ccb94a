"""Runs the points of a sweep in one process, one after the other."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

from .. import frames
from ..execution_request import ExecutionRequest
from .refusals import JobError

SECONDS_MAX = 5.0
"""After this time no further point begins: the caller stores what there is before it requests the rest."""
ANSWER_BYTES_MAX = 256 * 1024
"""Beyond it no further point begins: the shell bounds the values of a message, whatever they are."""
MESSAGE_LENGTH_MAX = 8 * 1024


def run_points(request: ExecutionRequest, run: Callable[[ExecutionRequest], dict[str, Any]]) -> dict[str, Any]:
    """The answers of the first points, at least of one: that of `run`, or the error with which it fails."""
    answers: list[dict[str, Any]] = []
    size = 0
    until = time.monotonic() + SECONDS_MAX
    for members in request.points:
        if answers and (size > ANSWER_BYTES_MAX or time.monotonic() > until):
            break
        answers.append(_answer(dataclasses.replace(request, points=[], of_sweep=True, **members), run))
        size += len(frames.pack(answers[-1]))
    return {"points": answers}


def _answer(request: ExecutionRequest, run: Callable[[ExecutionRequest], dict[str, Any]]) -> dict[str, Any]:
    try:
        return {"ok": True, **run(request)}
    except JobError as error:
        return failure(error.code, error.message, error.line)
    except MemoryError:
        return failure("execution_error", "MemoryError", None)


def failure(code: str, message: str, line: int | None) -> dict[str, Any]:
    """The message of a run that ends by its own fault."""
    return {"ok": False, "code": code, "message": message[:MESSAGE_LENGTH_MAX], "line": line}
