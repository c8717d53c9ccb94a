"""Stops every process of an execution, so that one that waits uses no processor, and continues them.

A signal stops a process until another process continues it, and processes of one execution can continue each other, or
have a timer do it. So one pass is not enough: the caller repeats it until a pass finds nothing running, and looks again
from time to time afterwards.
"""

from __future__ import annotations

import contextlib
import os
import signal

from .linux import children_of, parent_of

_STOPPED = frozenset("TtZX")
"""States of a thread that is stopped or has exited."""


def stop_run(first: int, guarded: bool) -> int:
    """Signals every process of an execution that is not stopped; returns how many there were. `first` is the process
    that its zygote started; `guarded`: it is the execution's guard, which has to stay awake to kill the execution."""
    running = [pid for pid in _processes(first, guarded) if _runs(pid)]
    for pid in running:
        _signal(first, pid, signal.SIGSTOP)
    return len(running)


def continue_run(first: int, guarded: bool) -> None:
    """Continues every process of a stopped execution."""
    for pid in _processes(first, guarded):
        _signal(first, pid, signal.SIGCONT)


def _processes(first: int, guarded: bool) -> list[int]:
    """Everything that descends from an execution's first process or was adopted below it."""
    found = [first]
    known = {first}
    for pid in found:
        new = children_of(pid) - known
        known |= new
        found.extend(new)
    return found[1:] if guarded else found


def _runs(pid: int) -> bool:
    """Whether any thread could use the processor: the first one may have exited before the others."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return False
    return any(_state(pid, thread) not in _STOPPED for thread in threads)


def _state(pid: int, thread: str) -> str:
    try:
        with open(f"/proc/{pid}/task/{thread}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "X"


def _signal(first: int, pid: int, number: int) -> None:
    """Signals a process if it still belongs to this execution: by now another process may have its id."""
    with contextlib.suppress(OSError):
        pidfd = os.pidfd_open(pid)
        try:
            if pid == first or _descends(pid, first):
                signal.pidfd_send_signal(pidfd, number)
        finally:
            os.close(pidfd)


def _descends(pid: int, first: int) -> bool:
    while pid > 1:
        pid = parent_of(pid)
        if pid == first:
            return True
    return False
