"""Sets limits in the child before it has its job: those that an execution cannot lift, and the one that its engine
can."""

from __future__ import annotations

import contextlib
import os
import resource

from ..job import MIB

PROCESSES_MAX = 64
"""Processes and threads of one execution; the libraries start three of them."""

FILE_BYTES_MAX = 32 * MIB
DESCRIPTORS_MAX = 256
UNGROUPED_DESCRIPTORS_MAX = 64
"""Of one process, where no control group counts what the kernel holds for it. What is sent into a pair of sockets and
not read belongs to no process: 208 KiB for each socket by default, so 0.9 GiB for all that an execution can open."""
_NICE = 5


def allow_engine_memory() -> int:
    """Raises the address space to the simulation's limit; returns that limit in bytes, or, where there is none, the
    memory of the machine."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hard == resource.RLIM_INFINITY else hard


def limit_processes_of_shared_user() -> None:
    """Bounds the processes and threads of this process's user, for this process and its descendants: the number that
    the user has now, plus the limit of an execution, plus the same number again for processes that the user's other
    programs start in the meantime."""
    user, running = os.getuid(), 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == user:
                    running += len(os.listdir(f"/proc/{name}/task"))
    limit(resource.RLIMIT_NPROC, running + 2 * PROCESSES_MAX)


def yield_processor() -> None:
    """Lets the service's own processes, and whatever else runs on the machine, come first: where processors are short,
    a process of theirs gets three times the time of this one. Threads and children inherit it. A process that leads a
    session calls it too: the kernel of many machines shares processors between sessions first."""
    os.nice(max(0, _NICE - os.nice(0)))
    if os.getsid(0) == os.getpid():
        with contextlib.suppress(OSError), open("/proc/self/autogroup", "w", encoding="ascii") as file:
            file.write(str(_NICE))


def limit(kind: int, soft: int, hard: int | None = None) -> None:
    """Sets a limit without raising one that the machine already sets lower."""
    present = resource.getrlimit(kind)[1]
    wanted = soft if hard is None else hard
    if present != resource.RLIM_INFINITY:
        wanted = min(wanted, present)
    resource.setrlimit(kind, (min(soft, wanted), wanted))


def prefer_as_memory_victim() -> None:
    """Makes the kernel kill an execution rather than the executor when the machine runs out of memory. Must precede the
    change of user, after which the file belongs to root."""
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")
