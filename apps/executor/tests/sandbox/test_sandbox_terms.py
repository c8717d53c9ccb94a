"""A sandbox with terms of its own, in this process: without control groups, with zygotes that are renewed soon and runs
that wait for an answer for a moment only. All of it is one start, which takes seconds; the tests judge what they saw."""

from __future__ import annotations

import asyncio
import json
import os
import time
from dataclasses import dataclass, field
from unittest.mock import patch

import pytest

from qjs_executor.isolation.owner import started
from qjs_executor.job import GIB, Asked, Completed, Failed, Job, JobParams, Limits, Lost, NotParked, Outcome, Script
from qjs_executor.sandbox.warm_sandbox import WarmSandbox

from ..support.asking import FRAMES, ONCE
from ..support.executor import BELL
from ..support.launched import launched

pytestmark = pytest.mark.long

MEMORY_GIB = 3
RECYCLE_JOBS = 20
PARKED_SECONDS = 0.3

# 4 GiB in sum, none of the processes above its own limit.
_GREEDY = """
import mmap, os, time
for _ in range(4):
    if os.fork() == 0:
        m = mmap.mmap(-1, 1 << 30, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE)
        time.sleep(240)
time.sleep(240)
"""
# 1.5 GiB, and sockets that could hold another 1.9 GiB.
_SOCKETS = """
import mmap, os, socket, time
m = mmap.mmap(-1, 3 << 29, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE)
for _ in range(40):
    if os.fork() == 0:
        m.close()
        pairs = [socket.socketpair() for _ in range(120)]
        time.sleep(240)
time.sleep(240)
"""
_MODEST = """
import mmap, os
for _ in range(2):
    if os.fork() == 0:
        m = mmap.mmap(-1, 1 << 30, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE)
        os._exit(0)
os.wait()
os.wait()
from qiskit import QuantumCircuit
circuit = QuantumCircuit(1)
"""


@dataclass
class Seen:
    """What the sandbox did."""

    cgroup: str = ""
    modest: Outcome | None = None
    greedy: Outcome | None = None
    sockets: Outcome | None = None
    waiting: Outcome | None = None
    kept_while_held: bool = False
    parkings: dict[str, int] = field(default_factory=dict)
    refused: bool = False
    unread: Outcome | None = None
    zygotes: set[tuple[int, int]] = field(default_factory=set)
    small: list[Outcome] = field(default_factory=list)


def _job(framework: str, code: str, script: Script | None = None) -> Job:
    source = {"kind": "code", "framework": framework, "code": code}
    return Job(
        "job",
        source,
        "aer-statevector",
        "statevector",
        28,
        JobParams(shots=10, given={"shots": 10}),
        script=script or Script(),
    )


async def _play() -> Seen:
    seen = Seen()
    # With so many slots no machine gives the simulation more than the code has.
    async with launched(EXECUTOR_SLOTS="63", EXECUTOR_MEMORY_GIB=str(MEMORY_GIB)) as launcher:
        sandbox = WarmSandbox(launcher, 2, recycle_jobs=RECYCLE_JOBS, groups=False, parked_seconds=PARKED_SECONDS)
        await sandbox.start()
        try:
            await _bound_memory(sandbox, seen)
            await _wait_for_an_answer(sandbox, seen)
            await _read_nothing(sandbox, seen)
            await _renew(sandbox, seen)
        finally:
            await sandbox.close()
    return seen


async def _run(sandbox: WarmSandbox, job: Job) -> Outcome:
    limits = Limits(wall_seconds=200, memory_bytes=MEMORY_GIB * GIB, engine_memory_bytes=MEMORY_GIB * GIB)
    return await sandbox.run(job, limits, lambda: None)


async def _bound_memory(sandbox: WarmSandbox, seen: Seen) -> None:
    seen.cgroup = sandbox.facts().cgroup
    seen.modest = await _run(sandbox, _job("qiskit", _MODEST))
    seen.greedy = await _run(sandbox, _job("qiskit", _GREEDY))
    seen.sockets = await _run(sandbox, _job("qiskit", _SOCKETS))


async def _wait_for_an_answer(sandbox: WarmSandbox, seen: Seen) -> None:
    seen.waiting = await _run(sandbox, _job("marqov", ONCE, Script(circuits="ask", seed=1, now=0.0)))
    with sandbox.hold("job"):
        await asyncio.sleep(PARKED_SECONDS + 0.2)
        seen.kept_while_held = sandbox.facts().parked == 1
    deadline = time.monotonic() + 60
    while sandbox.facts().parked and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    seen.parkings = dict(sandbox.facts().parkings)
    try:
        with sandbox.hold("job"):
            pass
    except NotParked:
        seen.refused = True


async def _read_nothing(sandbox: WarmSandbox, seen: Seen) -> None:
    large = FRAMES + "say({'ok': True, 'warnings': [], 'value': 'x' * 100_000})"
    with patch.object(os, "fork", side_effect=BlockingIOError("no more processes")):
        seen.unread = await _run(sandbox, _job("marqov", large))


async def _renew(sandbox: WarmSandbox, seen: Seen) -> None:
    deadline = time.monotonic() + 300
    while len(seen.zygotes) < 2 and time.monotonic() < deadline:
        alive = [(at, pid) for pid in sandbox.facts().zygotes[0]["pids"] if (at := started(pid)) >= 0]
        # Ids are used again, and none of its children is older than a zygote.
        seen.zygotes.update(sorted(alive)[:1])
        seen.small.append(await _run(sandbox, _job("openqasm", BELL)))


@pytest.fixture(scope="module")
def seen() -> Seen:
    """All that the tests judge."""
    return asyncio.run(_play())


def test_without_control_groups_the_memory_of_a_run_is_bounded_as_a_whole(seen: Seen) -> None:
    assert seen.cgroup == "none"
    assert isinstance(seen.modest, Completed)
    assert isinstance(seen.greedy, Failed)
    assert seen.greedy.message == "memory limit of 3 GiB"


def test_without_control_groups_every_socket_of_a_run_counts_as_full(seen: Seen) -> None:
    assert isinstance(seen.sockets, Failed)
    assert seen.sockets.message == "memory limit of 3 GiB"


def test_a_run_waits_no_longer_than_its_time(seen: Seen) -> None:
    assert isinstance(seen.waiting, Asked)
    assert seen.waiting.parked
    assert seen.kept_while_held, "who is about to go on is not ended"
    assert seen.parkings == {"expired": 1}
    assert seen.refused


def test_a_result_that_the_executor_has_no_process_to_read_is_lost_and_may_be_repeated(seen: Seen) -> None:
    assert seen.unread == Lost("the result could not be read: no more processes")


def test_a_zygote_is_renewed_without_losing_a_run(seen: Seen) -> None:
    assert len(seen.zygotes) == 2, "a second zygote took over"
    assert all(isinstance(end, Completed) and json.loads(end.result)["shots"] == 10 for end in seen.small)
    assert not any(started(pid) == at for at, pid in seen.zygotes)
