"""Each death of an executor's processes ends all of them, whatever their runs do or wait for, and leaves nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from ..support.asking import ONCE, begin
from ..support.executor import (
    BELL,
    FOLDER,
    LEVELS,
    TOKEN,
    Executor,
    command_of,
    descendants,
    eventually,
    ordinary_executor,
    python,
    qasm,
)
from ..support.lanes import long
from ..support.launched import orders_to_launcher
from ..support.ordinary_user import as_ordinary_user
from ..support.processes import LOOP, full, gone, left_by

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "PYTHONPATH": str(FOLDER),
    "EXECUTOR_TOKEN": TOKEN,
    "EXECUTOR_DRAIN_SECONDS": "0",
}

SECONDS = 10
"""How long a run still takes while its executor is stopped: longer than any process of a busy machine stands still."""
DRAIN = "300"


def test_a_signal_stops_everything_in_order_and_reports_its_runs_as_lost(start: Callable[..., Executor]) -> None:
    executor = start(EXECUTOR_SLOTS="2")
    with full(executor) as ends:
        started = descendants(executor.process.pid)
        executor.process.terminate()
        # A shell that waits for its runs is killed, and that would be the code.
        assert executor.process.wait(60) == 0
        assert [end.result().outcome["error"]["code"] for end in ends] == ["executor_shut_down"] * 2
    assert gone(started)
    assert left_by(executor.process.pid) == []
    assert executor.process.stdout is not None
    assert executor.process.stdout.read() == b"", "standard output stays empty"


@pytest.mark.parametrize("level", [level for level in LEVELS if level != "root, uid"])
def test_the_death_of_the_launcher_stops_everything_and_the_next_launcher_cleans_up(
    start: Callable[..., Executor], level: str
) -> None:
    if level == "this user":
        executor, before = start(EXECUTOR_SLOTS="2"), []
    else:
        executor = ordinary_executor(landlock=level.endswith("landlock"), EXECUTOR_SLOTS="2")
        before = as_ordinary_user() if os.getuid() == 0 else []
    with full(executor):
        started = descendants(executor.process.pid)
        executor.process.kill()
        executor.process.wait(60)
        eventually(lambda: gone(started), 60, "shell, zygotes and runs are dead")
    executor.close()
    assert left_by(executor.process.pid) != [], "a dead process removes nothing"
    with orders_to_launcher(before=before):
        assert left_by(executor.process.pid) == []


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGKILL, 128 + signal.SIGKILL), long(signal.SIGTERM, 0)],
    ids=["SIGKILL", "SIGTERM"],
)
def test_the_death_of_the_shell_stops_everything_and_its_exit_code_is_the_executors(
    start: Callable[..., Executor], number: signal.Signals, code: int
) -> None:
    executor = start(EXECUTOR_SLOTS="2")
    with full(executor):
        started = descendants(executor.process.pid)
        os.kill(executor.shell, number)
        assert executor.process.wait(60) == code
    assert gone(started)
    assert left_by(executor.process.pid) == []


@pytest.mark.long
def test_a_draining_executor_finishes_its_runs_takes_no_more_and_stops_at_once_at_the_second_signal(
    start: Callable[..., Executor],
) -> None:
    executor = start(EXECUTOR_SLOTS="2", EXECUTOR_DRAIN_SECONDS=DRAIN)
    short = f"import time\ntime.sleep({SECONDS})\nfrom qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1)"
    with ThreadPoolExecutor(2) as pool:
        endless, finite = (pool.submit(executor.run, source) for source in (LOOP, python(short)))
        eventually(lambda: executor.health()["slots"]["running"] == 2, 60, "both runs have begun")
        executor.process.terminate()
        eventually(lambda: executor.health()["status"] == "draining", 60, "health shows it")
        assert finite.result(120).outcome["status"] == "completed"
        assert executor.health()["slots"]["running"] == 1, "the other run continues"
        # With a free slot: only the drain refuses it.
        refused = executor.http.post("/run", json=executor.request(qasm(BELL)))
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "draining")
        executor.process.terminate()
        assert endless.result(60).outcome["error"]["code"] == "executor_shut_down"
    assert executor.process.wait(60) == 0


@pytest.mark.long
def test_a_draining_executor_executes_the_circuit_that_a_run_leaves(start: Callable[..., Executor]) -> None:
    executor = start(EXECUTOR_SLOTS="2", EXECUTOR_DRAIN_SECONDS=DRAIN)
    code = "import cirq, time\nq = cirq.LineQubit(0)\ncircuit = cirq.Circuit(cirq.X(q), cirq.measure(q))\n"
    source = {"kind": "code", "framework": "cirq", "code": code}
    assert executor.run(source).outcome["status"] == "completed", "the frameworks are imported"
    with ThreadPoolExecutor(1) as pool:
        end = pool.submit(executor.run, {**source, "code": code + f"time.sleep({SECONDS})\n"})
        eventually(lambda: executor.health()["slots"]["running"] == 1, 60, "the run has begun")
        executor.process.terminate()
        assert end.result(120).result["metadata"]["executed_apart"] is True
    assert executor.process.wait(60) == 0


@pytest.mark.long
def test_a_draining_executor_keeps_no_run_that_waits_for_an_answer(start: Callable[..., Executor]) -> None:
    executor = start(EXECUTOR_SLOTS="2", EXECUTOR_DRAIN_SECONDS=DRAIN)
    assert begin(executor, ONCE, "waits").outcome["parked"] is True
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(begin, executor, f"import time\ntime.sleep({SECONDS})\n" + ONCE, "late")
        eventually(lambda: executor.health()["slots"]["running"] == 1, 60, "the run has begun")
        executor.process.terminate()
        eventually(lambda: executor.health()["slots"]["parked"] == 0, SECONDS, "the waiting run is over")
        assert late.result(120).outcome["parked"] is False
    assert executor.process.wait(60) == 0


@pytest.mark.long
def test_a_draining_executor_kills_the_runs_that_are_not_over_in_time(start: Callable[..., Executor]) -> None:
    executor = start(EXECUTOR_SLOTS="2", EXECUTOR_DRAIN_SECONDS="1")
    with ThreadPoolExecutor(1) as pool:
        end = pool.submit(executor.run, LOOP)
        eventually(lambda: executor.health()["slots"]["running"] == 1, 60, "the run has begun")
        executor.process.terminate()
        assert end.result(60).outcome["error"]["code"] == "executor_shut_down"
    assert executor.process.wait(60) == 0


def begun(*arguments: str) -> tuple[subprocess.Popen[bytes], list[int]]:
    """An executor whose shell has ordered its first zygote and does not serve yet, and what it has started."""
    process = subprocess.Popen(
        [sys.executable, "-B", *arguments],
        env={**ENVIRONMENT, "EXECUTOR_PORT": "0"},
        stderr=subprocess.DEVNULL,
    )
    eventually(lambda: len(descendants(process.pid)) >= 2, 60, "the shell has ordered a zygote")
    return process, descendants(process.pid)


@pytest.mark.parametrize("number", [signal.SIGTERM, long(signal.SIGINT)], ids=["SIGTERM", "SIGINT"])
def test_a_signal_during_the_start_stops_the_executor(number: signal.Signals) -> None:
    process, started = begun("-m", "qjs_executor")
    try:
        process.send_signal(number)
        assert process.wait(60) == 0
        assert gone(started)
        assert left_by(process.pid) == []
    finally:
        process.kill()
        process.wait(60)


def test_a_shell_that_hangs_is_killed_after_a_signal() -> None:
    process, started = begun(
        "-c",
        "import os, sys\nfrom qjs_executor.launcher import launcher\nfrom qjs_executor.settings import read_settings\n"
        "launcher.STOP_SECONDS = 1\nsys.exit(launcher.launch(read_settings(os.environ)))",
    )
    try:
        os.kill(next(pid for pid in started if "service.shell" in command_of(pid)), signal.SIGSTOP)
        process.terminate()
        assert process.wait(60) == 128 + signal.SIGKILL
        assert gone(started)
        assert left_by(process.pid) == []
    finally:
        process.kill()
        process.wait(60)
