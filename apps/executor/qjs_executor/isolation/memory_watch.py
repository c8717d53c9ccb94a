"""Watches the memory of an execution as a whole where there is no control group: it counts the memory several times a
second, and kills the execution above its budget.

What is counted is the memory that the processes hold beyond what the first process held when it was ready, since until
then all of it is shared with the zygote. Memory that two processes share counts for each of them. What is sent into a
socket and not read belongs to no process; each socket of an execution with a network of its own counts as full.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from .linux import children_of

INTERVAL_SECONDS = 0.1


async def watch_memory(pid: int, budget_bytes: int, kill: Callable[[], None], own_network: bool) -> None:
    """Counts until the execution of the process `pid` holds more than `budget_bytes`; then calls `kill` once and
    returns. The caller cancels it when the execution finishes. `pid` must not have a job yet; `own_network`: it has a
    network namespace of its own."""
    idle = idle_bytes(pid)
    socket_bytes = _socket_bytes() if own_network else 0
    while True:
        held = held_bytes(pid, idle)
        if own_network:
            held += socket_bytes * _sockets(pid)
        if held > budget_bytes:
            kill()
            return
        await asyncio.sleep(INTERVAL_SECONDS)


def idle_bytes(pid: int) -> int:
    """What the first process of an execution without a job holds: it shares that with its zygote."""
    return max((_held(process) for process in _family(pid)), default=0)


def held_bytes(pid: int, idle: int) -> int:
    """What the processes of an execution hold beyond `idle`, each."""
    return sum(max(0, _held(process) - idle) for process in _family(pid))


def _family(pid: int) -> list[int]:
    """A process and everything it has started, as far as it descends from it or was adopted below it."""
    found = [pid]
    for one in found:
        found.extend(children_of(one))
    return found


def _socket_bytes() -> int:
    """What a socket can hold; the filter of system calls refuses to raise it."""
    try:
        with open("/proc/sys/net/core/wmem_default", encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return 212_992


def _sockets(pid: int) -> int:
    """How many sockets the process's network has, those on their way to another process included; 0 once it is
    gone."""
    try:
        with open(f"/proc/{pid}/net/sockstat", encoding="ascii") as file:
            return int(file.readline().split()[2])
    except (OSError, ValueError, IndexError):
        return 0


def _held(pid: int) -> int:
    """Bytes of memory that belong to no file, shared memory included; 0 once the process is gone."""
    kibibytes = 0
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith(("RssAnon:", "RssShmem:")):
                    kibibytes += int(line.split()[1])
    except (OSError, ValueError):
        return 0
    return kibibytes * 1024
