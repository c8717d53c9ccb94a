"""What an execution requests of its caller while it is under way: the results of a graph of tasks, or the counts of a
circuit.

A request is one frame on the result pipe, its answer one on the job's pipe. A script that is repeated because its
waiting child is gone gets the answers to its first requests with its job: it has to make the same requests again.
"""

from __future__ import annotations

import hashlib
import json
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal, NoReturn

from .refusals import JobError

Kind = Literal["graph", "circuit"]
REQUESTS_MAX = 1_000
"""The service accepts as many from one execution: more would be an endless loop."""
ANOTHER_PATH = (
    "the script took another path when it was repeated: its {place} request {before} and is {now} now; randomness and"
    " clock are fixed, so look for what else may differ from run to run: threads, addresses of objects, the order of"
    " sets of objects, the time that something takes, a simulator of your own that draws without a seed"
)
_Exchange = Callable[[dict[str, Any]], dict[str, Any] | None]

_monotonic = time.monotonic  # Bound now, because an execution's code may replace the original.


class EndOfScript(BaseException):
    """Stops the user's code from within. It is not an Exception, so `except Exception` in that code does not catch
    it."""

    def __init__(self, error: JobError) -> None:
        super().__init__(error.message)
        self.error = error


class Asks:
    """The requests of one execution, in order. `exchange` sends a message to the service and waits for the answer; it
    is None where there is no service."""

    def __init__(self, answers: list[dict[str, Any]], exchange: _Exchange | None = None) -> None:
        self.number = 0
        self.seconds_waited = 0.0
        self.ended: JobError | None = None
        """Why the script cannot continue, whatever its code did with the exception."""
        self._answers = answers
        self._exchange = exchange
        self._lock = threading.Lock()

    def answer(self, kind: Kind, digest: str, what: str, fields: dict[str, Any]) -> dict[str, Any]:
        """The service's answer to a request. `what` names the request in messages. Raises EndOfScript."""
        with self._lock:
            message = self._next(kind, digest, what, fields, final=False)
            if self.number <= len(self._answers):
                return self._answers[self.number - 1]
            answer = self._waited(message)
            self._check(answer, kind, digest, what)
            return answer

    def final(self, kind: Kind, digest: str, what: str, fields: dict[str, Any]) -> dict[str, Any]:
        """The message that ends the execution with a request: the answer to it is the job's result."""
        with self._lock:
            return self._next(kind, digest, what, fields, final=True)

    def end(self, error: JobError) -> NoReturn:
        """Stops the script: it cannot continue, even if its code catches every exception."""
        self.ended = self.ended or error
        raise EndOfScript(self.ended)

    def check(self) -> None:
        """Raises the error that stopped the script, if its code has swallowed it."""
        if self.ended is not None:
            raise self.ended

    def _next(self, kind: Kind, digest: str, what: str, fields: dict[str, Any], final: bool) -> dict[str, Any]:
        if self.ended is not None:
            raise EndOfScript(self.ended)
        if self.number == REQUESTS_MAX:
            self.end(
                JobError(f"the script requests more than {REQUESTS_MAX:,} circuits and workflows, the limit of a run")
            )
        self.number += 1
        if self.number <= len(self._answers):
            self._check(self._answers[self.number - 1], kind, digest, what)
        return {"ask": {"kind": kind, "number": self.number, "digest": digest, "final": final, **fields}}

    def _check(self, answer: dict[str, Any], kind: Kind, digest: str, what: str) -> None:
        before: Kind = "graph" if "values" in answer else "circuit"
        if before == kind and answer.get("digest") == digest:
            return
        previous = f"was a {before}" if before != kind else f"was another {kind}"
        self.end(JobError(ANOTHER_PATH.format(place=_ordinal(self.number), before=f"{previous} before", now=what)))

    def _waited(self, message: dict[str, Any]) -> dict[str, Any]:
        if self._exchange is None:
            self.end(JobError("a request to the service cannot be made here"))
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        # A task's time limit does not run while it waits for an answer.
        left, interval = signal.setitimer(signal.ITIMER_REAL, 0)
        asked = _monotonic()
        message_back = None
        try:
            with suppress(OSError):  # The code has closed the channel.
                message_back = self._exchange(message)
        finally:
            self.seconds_waited += _monotonic() - asked
            if left > 0:
                signal.setitimer(signal.ITIMER_REAL, left, interval)
        answer = (message_back or {}).get("answer")
        if not isinstance(answer, dict):
            self.end(JobError("the service did not answer the script's request"))
        return answer


def digest_of(*parts: Any) -> str:
    """SHA-256 of plain JSON values, by which a repeated request is recognised."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def circuit_digest(openqasm3: str, shots: int) -> str:
    """The digest of a request for a circuit's counts, by which the service knows which circuit they belong to."""
    return digest_of("circuit", openqasm3, shots)


def _ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
