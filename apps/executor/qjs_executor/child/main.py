"""The child's own story: run one job, say how it went, end. The process is confined before it gets here."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any, NoReturn

from .. import frames
from .refusals import JobError

# Bound now: the job's code may replace the originals.
_exit = os._exit
_close = os.close
_pack = frames.pack
_receive = frames.receive
_send = frames.send

MESSAGE_LENGTH_MAX = 8 * 1024


def answer(job: dict[str, Any], result_fd: int, job_fd: int | None = None) -> NoReturn:
    """Runs the job and writes one answer to the result pipe. `job_fd`, of a job that may ask, is where answers come.
    Never returns, whatever the user's code raises."""

    def exchange(message: dict[str, Any]) -> dict[str, Any] | None:
        assert job_fd is not None
        _send(result_fd, _pack(message))
        return _receive(job_fd)

    try:
        try:
            from .execution import answer_to

            told = answer_to(job, exchange if job_fd is not None else None)
            message = _pack(told if "ask" in told else {"ok": True, **told})
        except JobError as error:
            message = _failure(error.code, error.message, error.line)
        except MemoryError:
            message = _failure("execution_error", "MemoryError", None)
    except BaseException as error:
        message = _failure("execution_error", f"{type(error).__name__}: {error}", None)
    _end_output()
    try:
        _send(result_fd, message)
    except OSError:
        _exit(1)
    _exit(0)


def _failure(code: str, message: str, line: int | None) -> bytes:
    return _pack({"ok": False, "code": code, "message": message[:MESSAGE_LENGTH_MAX], "line": line})


def _end_output() -> None:
    """Says all that was printed and closes the streams, so that nobody waits for more."""
    for stream in (sys.stdout, sys.stderr):
        # Closed or replaced by the user's code; what it printed there is its own loss.
        with suppress(BaseException):
            stream.flush()
    for fd in (1, 2):
        with suppress(OSError):
            _close(fd)
