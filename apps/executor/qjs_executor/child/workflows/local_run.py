"""Executes the tasks of a graph one after another in this process, in the order in which the workflow called them.

It behaves as if each had a child of its own: functions and arguments are unpickled for each task and results encoded
between them, so that no task sees what another does to a value. There are no retries; a task that fails stops the
script.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from types import FrameType
from typing import Any

from ..asks import Asks, EndOfScript
from ..refusals import JobError
from ..source.user_code import guarded
from .metadata import Timed
from .task import TaskCall
from .values import encoded

# Bound now, because an execution's code may replace the originals.
_monotonic = time.monotonic
_time_ns = time.time_ns
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def run_here(graph: dict[str, Any], asks: Asks, begin: Callable[[], None]) -> tuple[dict[str, str], dict[str, Timed]]:
    """The encoded results of all tasks of a graph by id, and when each was executed. `begin` is called before each
    task. Stops the script, naming the task that failed."""
    values: dict[str, str] = {}
    times: dict[str, Timed] = {}
    for node in graph["nodes"]:
        begin()
        started = _now()
        try:
            values[node["node_id"]] = _result(node, values, asks)
        except JobError as error:
            error.message = f"task '{node['func_name']}' ({node['node_id']}): {error.message}"
            asks.end(error)
        times[node["node_id"]] = Timed(started, _now())
    return values, times


def _result(node: dict[str, Any], values: dict[str, str], asks: Asks) -> str:
    call = TaskCall(node["func_name"], node["function"], node["args"], node["kwargs"])
    limit: float = node["timeout_seconds"]
    own = {name: values[name] for name in node["dependencies"]}
    begun, waited = _monotonic(), asks.seconds_waited

    def returned() -> str:
        with _time_limit(limit):
            return encoded(call.returned(own), f"{call.name}() returned")

    try:
        text: str = guarded(returned)
    finally:
        asks.check()
    # Code that catches every exception also catches that of its time limit.
    if _monotonic() - begun - (asks.seconds_waited - waited) > limit:
        raise _too_slow(limit)
    return text


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    def end(_number: int, _frame: FrameType | None) -> None:
        raise EndOfScript(_too_slow(seconds))

    try:
        before = signal.signal(signal.SIGALRM, end)
    except ValueError:
        # Only the main thread gets signals; in another one the limit is enforced after the task.
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _too_slow(seconds: float) -> JobError:
    return JobError(f"time limit of {seconds:g} s")


def _now() -> str:
    return (_EPOCH + timedelta(microseconds=_time_ns() // 1000)).isoformat(timespec="microseconds")
