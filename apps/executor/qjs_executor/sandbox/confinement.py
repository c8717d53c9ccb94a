"""Gives up, in the child and before it reads its job, whatever a run must not have. Every step raises OSError when it
cannot be done; the run is then not started."""

from __future__ import annotations

import os
import resource
import sys
from dataclasses import dataclass

from . import linux
from .private_root import enter_private_root, mount_own_proc

PROCESSES_MAX = 64
"""Processes and threads of one run; the libraries themselves start three."""


@dataclass(frozen=True)
class Confinement:
    """How one child is confined: `isolation` as in the sandbox, the user it becomes, its memory (bytes), CPU (s)."""

    isolation: str
    uid: int
    memory_bytes: int
    engine_memory_bytes: int
    cpu_seconds: int
    scaffold: str


def separate(confinement: Confinement) -> None:
    """The keeper's part, before it forks the child: new namespaces and a private root."""
    if confinement.isolation != "namespaces":
        return
    linux.unshare(linux.CLONE_NEWNS | linux.CLONE_NEWPID | linux.CLONE_NEWNET | linux.CLONE_NEWIPC | linux.CLONE_NEWUTS)
    enter_private_root(confinement.scaffold, confinement.uid)


def confine(confinement: Confinement) -> None:
    """The child's part: its own process list, another user, limits, no new rights, death with the keeper."""
    if confinement.isolation == "namespaces":
        mount_own_proc()
    _prefer_as_memory_victim()
    processes = PROCESSES_MAX
    if confinement.isolation == "process":
        processes += _tasks_of_this_user()
    else:
        os.setgroups([])
        os.setresgid(confinement.uid, confinement.uid, confinement.uid)
        os.setresuid(confinement.uid, confinement.uid, confinement.uid)
    _limit(resource.RLIMIT_NPROC, processes)
    _limit(resource.RLIMIT_NOFILE, 256)
    _limit(resource.RLIMIT_FSIZE, 32 * 1024 * 1024)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_MEMLOCK, 64 * 1024)
    _limit(resource.RLIMIT_CPU, confinement.cpu_seconds, confinement.cpu_seconds + 1)
    _limit(resource.RLIMIT_AS, confinement.memory_bytes, confinement.engine_memory_bytes)
    linux.forbid_new_privileges()
    linux.die_with_parent()
    os.environ["HOME"] = os.environ["TMPDIR"] = os.getcwd()


def allow_engine_memory() -> int:
    """Lifts the address space to what the simulation may take; answers that limit in bytes."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    return sys.maxsize if hard == resource.RLIM_INFINITY else hard


def _limit(kind: int, soft: int, hard: int | None = None) -> None:
    """Sets a limit without ever raising one that the machine already keeps lower."""
    present = resource.getrlimit(kind)[1]
    wanted = soft if hard is None else hard
    if present != resource.RLIM_INFINITY:
        wanted = min(wanted, present)
    resource.setrlimit(kind, (min(soft, wanted), wanted))


def _prefer_as_memory_victim() -> None:
    """When the machine runs out of memory, the kernel ends a run rather than the executor. To be done before the change
    of user, after which the file belongs to root."""
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")


def _tasks_of_this_user() -> int:
    """Threads of this user now: without a user of its own a run shares the limit with everything of this user."""
    tasks = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == os.getuid():
                    tasks += len(os.listdir(f"/proc/{entry.name}/task"))
            except OSError:
                continue
    return tasks
