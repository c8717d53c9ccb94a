"""Executions that do not die when they should, and forks that fail: the zygote, its other executions and the pool
outlive them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from qjs_executor.isolation.linux import children_of
from qjs_executor.job import WITH_NAMESPACES, Completed, Failed, Job, JobParams, Limits, Outcome
from qjs_executor.sandbox import pooled_child
from qjs_executor.sandbox.pool import READY
from qjs_executor.sandbox.warm_sandbox import WarmSandbox

from ..support.executor import (
    BELL,
    LEVELS,
    Executor,
    descendants,
    eventually,
    ordinary_executor,
    python,
    qasm,
)
from ..support.lanes import long
from ..support.launched import launched
from ..support.ordinary_user import with_python_open_to_all
from ..support.processes import LOOP, accepted, gone, hold, stocked, undying

SURVIVOR = python(
    "import ctypes, os, signal, time\nctypes.CDLL(None).prctl(1, 0, 0, 0, 0)\n"
    "if os.fork() == 0: os.setsid()\n"
    "for number in range(1, 32):\n  try: signal.signal(number, signal.SIG_IGN)\n  except OSError: pass\n"
    "time.sleep(10**6)"
)
"""Tries to survive its zygote."""
WALL_SECONDS = 15
"""More than it takes to hold the processes of a run that has begun."""


@pytest.fixture(scope="module", params=LEVELS)
def small(request: pytest.FixtureRequest) -> Iterator[Executor]:
    """An executor with the packages of circuits alone, for each level."""
    if request.param == "this user":
        started = Executor(EXECUTOR_SLOTS="2")
    elif request.param == "root, uid":
        started = Executor(before=with_python_open_to_all(), EXECUTOR_SLOTS="2", EXECUTOR_ISOLATION="uid")
    else:
        started = ordinary_executor(landlock=request.param.endswith("landlock"), EXECUTOR_SLOTS="2")
    yield started
    started.close()


def zygote(executor: Executor) -> int:
    """The process of the zygote that the launcher started."""
    stock = executor.zygote("circuits")["pids"]
    return next(pid for pid in children_of(executor.process.pid) if pid in stock)


def first_process(executor: Executor) -> int:
    """The zygote itself, where it is the first process of a namespace; otherwise the same as `zygote`."""
    started = zygote(executor)
    if executor.health()["sandbox"]["isolation"] not in WITH_NAMESPACES:
        return started
    (itself,) = children_of(started)
    return itself


def restarts(executor: Executor) -> int:
    """How often the zygote was replaced because it died."""
    count: int = executor.zygote("circuits")["restarts"]
    return count


def end_of_trivial_run(executor: Executor) -> str:
    """The status of a run that must succeed."""
    return str(executor.run(qasm(BELL)).lines[-1]["outcome"]["status"])


@pytest.mark.parametrize("inner", [True, long(False)], ids=["the zygote itself", "the process that waits for it"])
def test_a_run_cannot_outlive_its_zygote_and_the_next_zygote_serves_within_seconds(
    small: Executor, inner: bool
) -> None:
    with accepted(small, SURVIVOR) as (end,):
        eventually(lambda: stocked(small), 60, "no child is on its way")
        eventually(lambda: len(small.descendants()) >= 2, 60, "the run has its two processes")
        run = small.descendants()
        victim = first_process(small) if inner else zygote(small)
        # It starts no other zygote until health has been read.
        os.kill(small.process.pid, signal.SIGSTOP)
        try:
            os.kill(victim, signal.SIGKILL)
            eventually(lambda: small.health()["status"] == "degraded", 60, "health shows that a pool is down")
        finally:
            os.kill(small.process.pid, signal.SIGCONT)
        assert end.result(60).outcome["error"]["code"] == "execution_service_lost"
    eventually(lambda: gone(run), 60, "nothing of the run is alive")
    eventually(lambda: small.health()["status"] == "ok", 120, "health shows that the pool is up")
    assert end_of_trivial_run(small) == "completed"


@pytest.mark.long
def test_a_zygote_is_replaced_while_a_run_of_the_last_one_does_not_die(small: Executor) -> None:
    before = restarts(small)
    hang_up = hold(small, LOOP)
    first = zygote(small)
    eventually(lambda: stocked(small), 60, "no child is on its way")
    with undying(small.descendants()):
        os.kill(first, signal.SIGKILL)
        eventually(lambda: restarts(small) > before, 120, "the next zygote is up")
        assert end_of_trivial_run(small) == "completed"
    hang_up()
    eventually(lambda: small.descendants() == [], 60, "no process of a run is left")


def test_a_run_that_dies_slowly_costs_neither_its_zygote_nor_other_runs(small: Executor) -> None:
    before = restarts(small), zygote(small)
    hang_up = hold(small, LOOP)
    # One that is on its way to the stock would be held too, and live on.
    eventually(lambda: stocked(small), 60, "no child is on its way")
    slow = small.descendants()
    with undying(slow):
        hang_up()
        other = python(
            f"import time\ntime.sleep({pooled_child.KILL_SECONDS + 0.5})\n"
            "from qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1)"
        )
        assert small.run(other).outcome["status"] == "completed"
        assert not gone(slow)
    assert (restarts(small), zygote(small)) == before
    eventually(lambda: small.descendants() == [], 60, "no process of a run is left")


def test_a_fork_that_fails_costs_no_run_and_is_repeated(small: Executor) -> None:
    eventually(lambda: small.zygote("circuits")["ready"] >= 2, 60, "the stock is full")
    hang_up = hold(small, LOOP)
    eventually(lambda: small.zygote("circuits")["ready"] >= 2, 60, "the stock is full")
    first, inner = zygote(small), first_process(small)
    try:
        before = resource.prlimit(inner, resource.RLIMIT_NOFILE)
    except PermissionError:
        pytest.skip("another user's limits need CAP_SYS_RESOURCE")
    resource.prlimit(inner, resource.RLIMIT_NOFILE, (len(os.listdir(f"/proc/{inner}/fd")) + 2, before[1]))
    try:
        assert [end_of_trivial_run(small) for _ in range(2)] == ["completed"] * 2, "those in stock are used"
        eventually(lambda: "could not be forked" in small.zygote("circuits")["last_error"], 60, "a fork has failed")
        assert small.health()["slots"]["running"] == 1, "the other run is alive"
    finally:
        resource.prlimit(inner, resource.RLIMIT_NOFILE, before)
    assert end_of_trivial_run(small) == "completed"
    assert zygote(small) == first
    hang_up()


@pytest.fixture
def little_room(tmp_path: Path) -> Iterator[Path]:
    """A temporary folder with room for few files."""
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "nr_inodes=200,mode=1777", "tmpfs", tmp_path], check=False)
    if mounted.returncode != 0:
        pytest.skip("this needs the right to mount")
    yield tmp_path
    subprocess.run(["umount", "--lazy", tmp_path], check=True)


@pytest.mark.long
def test_a_full_temporary_folder_costs_no_run_and_no_zygote(little_room: Path) -> None:
    tmp_path = little_room
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o011)
    executor = Executor(
        before=with_python_open_to_all(), EXECUTOR_SLOTS="2", EXECUTOR_ISOLATION="uid", TMPDIR=str(tmp_path)
    )
    try:
        hang_up = hold(executor, LOOP)
        first = zygote(executor)
        files: list[Path] = []

        def fill() -> None:
            with contextlib.suppress(OSError):
                for _ in range(300):
                    files.append(tmp_path / f"full-{len(files)}")
                    files[-1].touch()

        def fork_fails() -> bool:
            # The end of a run leaves room for one fork more.
            fill()
            executor.run(qasm(BELL))
            return "No space left" in executor.zygote("circuits")["last_error"]

        fill()
        eventually(lambda: executor.zygote("circuits")["ready"] >= 2, 60, "the stock is full")
        eventually(fork_fails, 60, "a fork has failed")
        assert executor.health()["slots"]["running"] == 1, "the other run is alive"
        for file in files:
            file.unlink(missing_ok=True)
        assert end_of_trivial_run(executor) == "completed"
        assert (zygote(executor), restarts(executor)) == (first, 0)
        hang_up()
    finally:
        executor.close()


def _job(code: str) -> Job:
    params = JobParams(shots=10, given={"shots": 10})
    return Job("job", python(code), "aer-statevector", "statevector", 28, params)


async def _give_up() -> list[tuple[Outcome, str]]:
    """The ends of a run that does not die and of the next one, and the sandbox's status then and at the end."""
    seen: list[tuple[Outcome, str]] = []
    async with launched(EXECUTOR_SLOTS="2", EXECUTOR_WARM_FRAMEWORKS="0") as launcher:
        sandbox = WarmSandbox(launcher, 2)
        await sandbox.start()
        accepted = asyncio.Event()
        limits = Limits(wall_seconds=WALL_SECONDS)
        run = asyncio.create_task(sandbox.run(_job("while True: pass"), limits, accepted.set))
        await accepted.wait()
        while sandbox.facts().zygotes[0]["ready"] < READY:
            await asyncio.sleep(0.01)
        stock = {pid for one in sandbox.facts().zygotes for pid in one["pids"]}
        with undying([pid for pid in descendants(launcher.handover.launcher) if pid not in stock]):
            seen.append((await run, sandbox.facts().status))
            circuit = "from qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1)"
            seen.append((await sandbox.run(_job(circuit), Limits(), lambda: None), sandbox.facts().status))
        while sandbox.facts().status != "ok":
            await asyncio.sleep(0.01)
        await sandbox.close()
    return seen


@pytest.mark.long
def test_a_run_that_does_not_die_is_given_up_and_health_shows_it_until_it_is_dead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A zygote has time to obey, or it is killed with all its children.
    for name, seconds in (("KILL_SECONDS", 0.1), ("OBEY_SECONDS", 8), ("GIVE_UP_SECONDS", 9)):
        monkeypatch.setattr(pooled_child, name, seconds)
    (slow, during), (other, _) = asyncio.run(asyncio.wait_for(_give_up(), 300))
    assert isinstance(slow, Failed)
    assert slow.message == f"time limit of {WALL_SECONDS} s"
    assert during == "degraded"
    assert isinstance(other, Completed)
