"""Control groups: they bound an execution as a whole, where the limits of a process bound each process separately.

A group is created per child below the executor's own group, filled before the child has a job, and removed after the
child has exited. Version 2 is used where `memory` and `pids` are delegated to the executor, version 1 where its
hierarchies are writable. Otherwise there are no groups: the other layers still hold, memory is counted instead, and
health shows it.
"""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass
from typing import Literal

from .owner import is_dead, owner_name

Kind = Literal["v2", "v1", "none"]

_PROCESSES_MAX = 64
_PERIOD_MICROSECONDS = 100_000
_WEIGHT_V2, _SHARES_V1 = 10, 102
"""A tenth of what the kernel gives by default to a group, and to a process (or a session) outside of one, such as those
of the service. Niceness counts only within a group."""
_CONTROLLERS = ("memory", "pids", "cpu")
_ROOT = "/sys/fs/cgroup"
_PREFIX = "qjs-"
_OF_SWAP = ("memory.swap.max", "memory.memsw.limit_in_bytes")
"""A kernel without swap accounting does not have these files."""
_LEAF = "qjs-executor"
"""The group of the executor's own process under version 2: a group that contains processes cannot delegate a
controller."""


@dataclass(frozen=True)
class Hierarchy:
    """Where this executor can create groups: a folder per controller (the same for all under version 2)."""

    kind: Kind
    folders: dict[str, str]

    def make_group(self, name: str, memory_bytes: int) -> Group:
        """Creates the group of one child, bounded to `memory_bytes`, 64 tasks and one processor. `name` is unique in
        this executor. Raises OSError."""
        name = f"{_PREFIX}{owner_name()}-{name}"
        folders = {controller: f"{folder}/{name}" for controller, folder in self.folders.items()}
        group = Group(self.kind, folders)
        try:
            for folder in set(folders.values()):
                os.mkdir(folder)
            for controller, settings in group_settings(self.kind, memory_bytes).items():
                for file, value in settings.items():
                    path = f"{folders.get(controller)}/{file}"
                    if controller in folders and (file not in _OF_SWAP or os.path.exists(path)):
                        _write(path, value)
        except OSError:
            group.remove()
            raise
        return group


@dataclass(frozen=True)
class Group:
    """The control group of one child."""

    kind: Kind
    folders: dict[str, str]

    def add(self, pid: int) -> None:
        """Moves a process into the group. Raises OSError."""
        for folder in set(self.folders.values()):
            _write(f"{folder}/cgroup.procs", str(pid))

    def out_of_memory(self) -> bool:
        """Whether the kernel has killed a process of this group because it exceeded its memory."""
        if self.kind == "none":
            return False
        file = "memory.events" if self.kind == "v2" else "memory.oom_control"
        try:
            with open(f"{self.folders['memory']}/{file}", encoding="ascii") as counters:
                return any(line.startswith("oom_kill ") and line.split()[1] != "0" for line in counters)
        except OSError:
            return False

    def kill(self) -> None:
        """Kills every process that is in the group now."""
        if self.kind == "v2":
            with contextlib.suppress(OSError):
                _write(f"{self.folders['memory']}/cgroup.kill", "1")
            return
        pidfds: dict[int, int] = {}
        try:
            for pid in self._processes():
                with contextlib.suppress(OSError):
                    pidfds[pid] = os.pidfd_open(pid)
            # Read again: a process that is still in the list is the one behind its pidfd.
            for pid in self._processes() & pidfds.keys():
                with contextlib.suppress(OSError):
                    signal.pidfd_send_signal(pidfds[pid], signal.SIGKILL)
        finally:
            for pidfd in pidfds.values():
                os.close(pidfd)

    def _processes(self) -> set[int]:
        try:
            with open(f"{self.folders['memory']}/cgroup.procs", encoding="ascii") as file:
                return {int(line) for line in file}
        except OSError:
            return set()

    def remove(self) -> None:
        """Removes the group, whose first process has exited; what that process left is killed."""
        self.kill()
        for folder in set(self.folders.values()):
            with contextlib.suppress(OSError):
                os.rmdir(folder)

    def exists(self) -> bool:
        """Whether any part of the group is left."""
        return any(os.path.isdir(folder) for folder in self.folders.values())


def find_hierarchy() -> Hierarchy:
    """Finds out what this machine offers by creating a group and removing it."""
    for hierarchy in (_version_2(), _version_1()):
        if hierarchy is None:
            continue
        try:
            hierarchy.make_group("try", 1 << 30).remove()
        except OSError:
            continue
        return hierarchy
    return Hierarchy("none", {})


def remove_leftover_groups(hierarchy: Hierarchy) -> None:
    """Removes the empty groups of executors that were killed."""
    for folder in set(hierarchy.folders.values()):
        for entry in os.scandir(folder):
            owner = entry.name.removeprefix(_PREFIX)
            if owner != entry.name and is_dead(owner):
                with contextlib.suppress(OSError):
                    os.rmdir(entry.path)


def group_settings(kind: Kind, memory_bytes: int) -> dict[str, dict[str, str]]:
    """The settings of a new group, by controller and file."""
    if kind == "v2":
        return {
            "memory": {"memory.max": str(memory_bytes), "memory.swap.max": "0", "memory.oom.group": "1"},
            "pids": {"pids.max": str(_PROCESSES_MAX)},
            "cpu": {"cpu.max": f"{_PERIOD_MICROSECONDS} {_PERIOD_MICROSECONDS}", "cpu.weight": str(_WEIGHT_V2)},
        }
    return {
        "memory": {
            "memory.limit_in_bytes": str(memory_bytes),
            # Memory and swap together, or an execution could push all of its memory into the swap of the machine.
            "memory.memsw.limit_in_bytes": str(memory_bytes),
        },
        "pids": {"pids.max": str(_PROCESSES_MAX)},
        "cpu": {
            "cpu.cfs_period_us": str(_PERIOD_MICROSECONDS),
            "cpu.cfs_quota_us": str(_PERIOD_MICROSECONDS),
            "cpu.shares": str(_SHARES_V1),
        },
    }


@dataclass(frozen=True)
class Step:
    """One change to the tree of groups: create a folder, or write `text` into a file."""

    path: str
    text: str | None = None


def steps_to_hand_down(own: str, controllers: set[str], pid: int) -> list[Step]:
    """The steps that make the group `own` (a folder with these controllers) delegate them to the groups below it: its
    process moves to a leaf first. No steps when `memory` or `pids` is missing."""
    if not {"memory", "pids"} <= controllers:
        return []
    given = " ".join(f"+{name}" for name in _CONTROLLERS if name in controllers)
    leaf = f"{own}/{_LEAF}"
    return [Step(leaf), Step(f"{leaf}/cgroup.procs", str(pid)), Step(f"{own}/cgroup.subtree_control", given)]


def _version_2() -> Hierarchy | None:
    path = _own_paths().get("")
    if path is None:
        return None
    own = (_ROOT + path).rstrip("/").removesuffix(f"/{_LEAF}")
    try:
        with open(f"{own}/cgroup.controllers", encoding="ascii") as file:
            controllers = set(file.read().split())
    except OSError:
        return None
    steps = steps_to_hand_down(own, controllers, os.getpid())
    if not steps:
        return None
    try:
        for step in steps:
            if step.text is not None:
                _write(step.path, step.text)
            elif not os.path.isdir(step.path):
                os.mkdir(step.path)
    except OSError:
        # Another process is in our group, or the group is not writable: undo the first step.
        with contextlib.suppress(OSError):
            _write(f"{own}/cgroup.procs", str(os.getpid()))
            os.rmdir(f"{own}/{_LEAF}")
        return None
    return Hierarchy("v2", {controller: own for controller in _CONTROLLERS if controller in controllers})


def _version_1() -> Hierarchy | None:
    paths = _own_paths()
    folders: dict[str, str] = {}
    for controllers, path in paths.items():
        for controller in controllers.split(","):
            if controller in _CONTROLLERS:
                folders[controller] = f"{_ROOT}/{controller}{path}".rstrip("/")
    return Hierarchy("v1", folders) if {"memory", "pids"} <= set(folders) else None


def _own_paths() -> dict[str, str]:
    """Our own groups by controllers, from lines like `4:memory:/path`."""
    try:
        with open("/proc/self/cgroup", encoding="ascii", errors="replace") as file:
            lines = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError:
        return {}
    return {controllers: path for _, controllers, path in lines}


def _write(path: str, value: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, value.encode("ascii"))
    finally:
        os.close(fd)
