"""Looking at the processes of an executor from outside, and one with a run that does not end."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .conftest import Executor, eventually, python

LOOP = python("while True: pass")


def status(pid: int) -> dict[str, str]:
    """What the kernel says about a process, by name; empty once it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def gone(pids: list[int]) -> bool:
    """Whether none of these is alive; who has ended and was not waited for is not."""
    return all(status(pid).get("State", "Z").startswith("Z") for pid in pids)


def left_by(pid: int) -> list[str]:
    """Control groups and folders on the machine that bear the name of an executor with this process id."""
    groups = [
        folder for folder, _, _ in os.walk("/sys/fs/cgroup") if os.path.basename(folder).startswith(f"qjs-{pid}-")
    ]
    return groups + [str(folder) for folder in Path(tempfile.gettempdir()).glob(f"qjs-pool-{pid}-[0-9]*-*")]


def busy(start: Callable[..., Executor]) -> tuple[Executor, ThreadPoolExecutor]:
    """An executor with a run that does not end, and the thread that waits for it."""
    executor = start(EXECUTOR_SLOTS="1")
    pool = ThreadPoolExecutor(1)
    pool.submit(executor.run, LOOP)
    eventually(lambda: len(executor.descendants()) >= 1, 20, "the run is alive")
    return executor, pool
