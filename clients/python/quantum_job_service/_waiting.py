"""Follows a job to its end by its event stream, or, where streams do not get through, by status requests."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from ._http import SILENCE_SECONDS, Listen, Pause, Plan, request
from .errors import JobFailed
from .results import Result, SweepResult, read_result

FINAL = ("completed", "failed", "cancelled", "dispatch_failed")
DEAF_STREAMS_MAX = 2
"""After so many streams in a row that brought nothing, the status is asked for instead."""
STATUS_WAIT_SECONDS = 20
RECONNECT_SECONDS = 1.0


def final_state(
    job_id: str, timeout: float | None, on_event: Callable[[Mapping[str, Any]], None] | None = None
) -> Plan[dict[str, Any]]:
    """The state of the finished job, with its result. `on_event` receives each event once, also over lost connections.
    Raises TimeoutError; the job goes on."""
    deadline = None if timeout is None else time.monotonic() + timeout
    stream = _Stream(on_event)
    deaf = 0
    while not stream.ended and deaf < DEAF_STREAMS_MAX:
        heard = stream.lines
        silence = min(SILENCE_SECONDS, _left(job_id, deadline))
        headers = {"last-event-id": str(stream.last), "accept": "text/event-stream"}
        answer = yield Listen(f"/api/jobs/{job_id}/events", headers, stream.take, max(silence, 0.1))
        if isinstance(answer, int) and 400 <= answer < 500:
            # The status request says why, or works where streams do not.
            break
        deaf = 0 if stream.lines > heard else deaf + 1
        if not stream.ended and (isinstance(answer, httpx.TransportError) or answer != 200):
            yield Pause(min(RECONNECT_SECONDS, _left(job_id, deadline)))
    while True:
        wait = 0 if stream.ended else int(min(STATUS_WAIT_SECONDS, _left(job_id, deadline)))
        state: dict[str, Any] = yield from request("GET", f"/api/jobs/{job_id}/status?wait={wait}")
        if state["status"] in FINAL:
            return state
        # Only where the waiting time is below a second: a waiting request returns at once when the status changes.
        if wait == 0:
            yield Pause(min(0.2, _left(job_id, deadline)))


def result_of(job_id: str, timeout: float | None) -> Plan[Result | SweepResult]:
    """The result. Raises JobFailed for a job without one."""
    state = yield from final_state(job_id, timeout)
    if state["status"] == "completed":
        return read_result(state["result"], job_id)
    record = yield from request("GET", f"/api/jobs/{job_id}")
    error = record.get("error") or {}
    message = error.get("message") or record.get("status_reason") or "no result"
    raise JobFailed(job_id, state["status"], error.get("code", state["status"]), message)


def _left(job_id: str, deadline: float | None) -> float:
    if deadline is None:
        return float("inf")
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError(f"job {job_id} was not finished in time; it goes on")
    return left


class _Stream:
    """Reads the lines of event streams: `last` is the number of the last event, `ended` whether it was the final
    status."""

    def __init__(self, on_event: Callable[[Mapping[str, Any]], None] | None) -> None:
        self.last = 0
        self.lines = 0
        self.ended = False
        self._on_event = on_event

    def take(self, line: str) -> bool:
        self.lines += 1
        if line.startswith("data:"):
            event = json.loads(line[len("data:") :])
            if event["seq"] > self.last:
                self.last = event["seq"]
                self.ended = event["type"] == "status" and event["status"] in FINAL
                if self._on_event:
                    self._on_event(event)
        return self.ended
