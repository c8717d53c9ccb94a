"""Does a child's work from its request to its exit. The process is confined before it gets here."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any, NoReturn

from .. import frames
from ..execution_request import ExecutionRequest
from .refusals import JobError
from .sweep import failure

# Bound now, because the job's code may replace the originals.
_exit = os._exit
_close = os.close
_pack = frames.pack
_receive = frames.receive
_send = frames.send


def answer(request: ExecutionRequest, result_fd: int, job_fd: int | None = None) -> NoReturn:
    """Executes the request and writes one answer to the result pipe. `job_fd`, for an execution that may make requests,
    is where answers arrive. Never returns, whatever the user's code raises."""

    def exchange(message: dict[str, Any]) -> dict[str, Any] | None:
        assert job_fd is not None
        _send(result_fd, _pack(message))
        return _receive(job_fd)

    # As on a terminal, so that what is printed can be followed.
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    try:
        try:
            from .execution import answer_to

            fields = answer_to(request, exchange if job_fd is not None else None)
            message = _pack(fields if "ask" in fields else {"ok": True, **fields})
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
    return _pack(failure(code, message, line))


def _end_output() -> None:
    """Flushes everything printed and closes the streams, so that the shell does not wait for more."""
    for stream in (sys.stdout, sys.stderr):
        # The user's code closed or replaced the stream; what it printed there is lost.
        with suppress(BaseException):
            stream.flush()
    for fd in (1, 2):
        with suppress(OSError):
            _close(fd)
