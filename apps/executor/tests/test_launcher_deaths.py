"""Each death of an executor's processes ends all of them, and leaves nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import FOLDER, TOKEN, Executor, descendants, eventually, free_port
from .processes import busy, gone, left_by


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 0)], ids=["SIGTERM", "SIGINT"])
def test_a_signal_to_the_launcher_ends_everything_in_order(
    start: Callable[..., Executor], number: signal.Signals, code: int
) -> None:
    executor, pool = busy(start)
    started = descendants(executor.process.pid)
    with pool:
        executor.process.send_signal(number)
        assert executor.process.wait(10) == code
    assert gone(started)
    assert left_by(executor.process.pid) == []


def test_a_signal_before_it_serves_ends_it_too() -> None:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(FOLDER), "EXECUTOR_TOKEN": TOKEN}
    process = subprocess.Popen(
        [sys.executable, "-B", "-m", "qjs_executor"],
        env={**environment, "EXECUTOR_PORT": str(free_port())},
        stderr=subprocess.DEVNULL,
    )
    try:
        eventually(lambda: len(descendants(process.pid)) >= 2, 30, "the shell has ordered a zygote")
        started = descendants(process.pid)
        process.terminate()
        assert process.wait(15) == 0
        assert gone(started)
        assert left_by(process.pid) == []
    finally:
        process.kill()
        process.wait(5)


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGKILL, 128 + signal.SIGKILL), (signal.SIGTERM, 0)],
    ids=["SIGKILL", "SIGTERM"],
)
def test_the_death_of_the_shell_ends_everything_and_its_code_is_the_executors(
    start: Callable[..., Executor], number: signal.Signals, code: int
) -> None:
    executor, pool = busy(start)
    started = descendants(executor.process.pid)
    with pool:
        os.kill(executor.shell, number)
        assert executor.process.wait(15) == code
    assert gone(started)
    assert left_by(executor.process.pid) == []


def test_a_shell_that_hangs_is_killed_after_a_signal(start: Callable[..., Executor]) -> None:
    executor = start(EXECUTOR_SLOTS="1")
    started = descendants(executor.process.pid)
    os.kill(executor.shell, signal.SIGSTOP)
    executor.process.terminate()
    assert executor.process.wait(15) == 128 + signal.SIGKILL
    assert gone(started)
    assert left_by(executor.process.pid) == []


def test_the_death_of_the_launcher_ends_everything_and_the_next_one_clears_away(start: Callable[..., Executor]) -> None:
    executor, pool = busy(start)
    started = descendants(executor.process.pid)
    with pool:
        executor.process.kill()
        executor.process.wait(5)
        eventually(lambda: gone(started), 5, "shell, zygotes and runs are dead")
    assert left_by(executor.process.pid) != [], "a dead process removes nothing"
    start(EXECUTOR_SLOTS="1")
    assert left_by(executor.process.pid) == []


def test_the_death_of_a_zygote_leaves_no_folder(start: Callable[..., Executor]) -> None:
    executor = start(EXECUTOR_SLOTS="1")

    def folders() -> set[str]:
        return {one for one in left_by(executor.process.pid) if "qjs-pool" in one}

    def parents() -> set[int]:
        children = Path(f"/proc/{executor.process.pid}/task/{executor.process.pid}/children").read_text().split()
        return {int(pid) for pid in children} - {executor.shell}

    sets = len(executor.health()["sandbox"]["zygotes"])
    # What the self-test used is cleared away while the executor serves already. The root of the shell is a folder too.
    eventually(lambda: len(parents()) == sets and len(folders()) <= sets + 1, 30, "only the stock is left")
    before, zygotes = folders(), parents()
    os.kill(min(zygotes), signal.SIGKILL)
    eventually(lambda: len(parents() - zygotes) == 1, 30, "another one is started")
    eventually(lambda: len(folders()) == len(before) and folders() != before, 30, "its folder is removed")
    eventually(lambda: all(one["ready"] >= 2 for one in executor.health()["sandbox"]["zygotes"]), 60, "it is replaced")
