"""Looking at the processes of an executor from outside, and runs that do not end by themselves."""

from __future__ import annotations

import json
import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from qjs_executor.isolation.owner import started

from .asking import SPINNING, begin
from .executor import Answer, Executor, eventually, python

_OWNER = re.compile(r"qjs-(?:pool-)?(\d+)-(\d+)-")
_BEGAN = started(os.getpid())

LOOP = python("while True: pass")
DETACHED = python(
    "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(1000)\n    os._exit(0)\n"
    "time.sleep(1000)"
)
"""Leaves a daemon and does not end either."""
SLOT_SECONDS = 60
"""More than the kernel takes to kill what holds a slot."""


def status(pid: int) -> dict[str, str]:
    """What the kernel reports about a process, by name; empty once it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def gone(pids: list[int]) -> bool:
    """Whether none of these is alive; a process that has exited and was not waited for is not."""
    return all(status(pid).get("State", "Z").startswith("Z") for pid in pids)


def left_by(pid: int) -> list[str]:
    """Control groups and folders on the machine that bear the name of an executor with this process id. Of executors
    that are older than these tests the id alone is known: another one had it."""
    groups = [Path(folder) for folder, _, _ in os.walk("/sys/fs/cgroup")]
    folders = [*groups, *Path(tempfile.gettempdir()).glob("qjs-pool-*")]
    names = [(folder, _OWNER.match(folder.name)) for folder in folders]
    return [str(folder) for folder, owner in names if owner and int(owner[1]) == pid and int(owner[2]) >= _BEGAN]


def ticks(pids: list[int]) -> int:
    """Processor time of processes, in clock ticks."""
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total


def stocked(executor: Executor) -> bool:
    """Every zygote that is up has its children ready, so none is on its way, which looks like a process of a run."""
    zygotes = executor.health()["sandbox"]["zygotes"]
    return all(zygote["up"] and zygote["ready"] >= 2 for zygote in zygotes if zygote["state"] != "cold")


@contextmanager
def taken(executor: Executor, source: dict[str, str], **fields: Any) -> Iterator[httpx.Response]:
    """The answer to a run that has got a slot. A run that was killed before may still hold it."""
    deadline = time.monotonic() + SLOT_SECONDS
    while True:
        with executor.http.stream("POST", "/run", json=executor.request(source, **fields)) as answer:
            if answer.status_code != 503 or time.monotonic() > deadline:
                yield answer
                return
        time.sleep(0.05)


def hold(executor: Executor, source: dict[str, str], **fields: Any) -> Callable[[], None]:
    """Starts a run, waits until it is accepted, and returns a function that hangs up."""
    stream = taken(executor, source, **fields)
    answer = stream.__enter__()
    assert answer.status_code == 200
    lines: Generator[str, None, None] = answer.iter_lines()  # type: ignore[assignment]
    assert json.loads(next(lines))["accepted"]["run_id"] == "test"

    def hang_up() -> None:
        # Letting go of the iterator closes the stream, so it is held until here.
        lines.close()
        stream.__exit__(None, None, None)

    return hang_up


@contextmanager
def accepted(executor: Executor, *sources: dict[str, str]) -> Iterator[list[Future[Answer]]]:
    """Runs that the executor has accepted: their ends. What kills them earlier is answered otherwise."""

    def run(source: dict[str, str], begun: threading.Event) -> Answer:
        with taken(executor, source) as answer:
            lines = []
            for line in answer.iter_lines():
                lines.append(json.loads(line))
                begun.set()
            return Answer(answer.status_code, lines)

    with ThreadPoolExecutor(len(sources)) as pool:
        begun = [threading.Event() for _ in sources]
        ends = [pool.submit(run, *one) for one in zip(sources, begun, strict=True)]
        for event in begun:
            assert event.wait(60), "the executor has accepted the run"
        yield ends


@contextmanager
def full(executor: Executor) -> Iterator[list[Future[Answer]]]:
    """An executor of two slots with a run in each, one of which has left a daemon, and one that waits for an answer with
    what it has started; the ends of the first two."""
    assert begin(executor, SPINNING, "waits").outcome["parked"] is True
    with accepted(executor, LOOP, DETACHED) as ends:
        eventually(lambda: len(executor.descendants()) >= 8, 60, "all of them are alive")
        yield ends


@contextmanager
def undying(pids: list[int]) -> Iterator[None]:
    """Processes that SIGKILL does not kill for now, like those whose memory the kernel takes long to free: version 1 of
    the freezer holds them. Skips the test where there is none."""
    folder = Path(f"/sys/fs/cgroup/freezer/undying-{os.getpid()}")
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"this needs version 1 of the freezer, as root: {error}")
    try:
        for pid in pids:
            # One can have ended since it was listed.
            with suppress(ProcessLookupError):
                (folder / "cgroup.procs").write_text(str(pid))
        (folder / "freezer.state").write_text("FROZEN")
        eventually(lambda: (folder / "freezer.state").read_text().strip() == "FROZEN", 60, "the processes are held")
        yield
    finally:
        (folder / "freezer.state").write_text("THAWED")
        eventually(lambda: not (folder / "cgroup.procs").read_text(), 60, "the processes are dead")
        folder.rmdir()
