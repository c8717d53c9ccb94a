"""A private read-only root for an execution: the system's libraries, Python and its packages, and nothing else of the
machine.

Paths stay the same as outside, because loaded packages remember theirs. A prefix below a folder that only its owner can
enter (a home folder) becomes reachable, since the folders above it are created anew.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from .linux import (
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_RDONLY,
    MS_REC,
    MS_REMOUNT,
    mount,
    pivot_root,
)

SCRATCH_MIB = 64
SHARED_MEMORY_MIB = 32
_STASH = "/.prefixes"
"""Where prefixes below /tmp are bound a second time: a child's own /tmp hides the first, and a module that is imported
late would be missing."""
_READ_ONLY_AGAIN = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV
_HIDDEN = (
    *("keys", "timer_list", "sysrq-trigger", "kallsyms", "config.gz", "cmdline"),
    # What other executions do, counted finely: interrupts, waits, pages, locks.
    *("loadavg", "stat", "interrupts", "softirqs", "diskstats", "vmstat", "zoneinfo", "buddyinfo", "pagetypeinfo"),
    *("schedstat", "sched_debug", "locks", "key-users", "swaps"),
    *("pressure/cpu", "pressure/io", "pressure/memory", "pressure/irq"),
)
"""Files of /proc that read as empty. `meminfo` and `cpuinfo` stay: libraries read them, and the same numbers come from
a system call."""
_GPU_DEVICE = re.compile(r"nvidia(?:\d+|ctl|-uvm)")
"""The devices that a computation on an NVIDIA GPU opens; not those that display, or that set the card up."""
_INODES = 8192
"""Bounds each writable folder; without it an execution could fill the kernel's memory with empty files."""


def gpu_devices(folder: str = "/dev") -> list[str]:
    """The devices of this machine's GPUs, by path; none without a driver."""
    return sorted(entry.path for entry in os.scandir(folder) if _GPU_DEVICE.fullmatch(entry.name))


def build_shared_root(scaffold: str, devices: Sequence[str] = ()) -> None:
    """Builds a read-only root on the empty folder `scaffold` and enters it, in a mount namespace of the caller's own;
    once for all children of a zygote. It has no writable folder: each child mounts its own. `devices` are in its /dev
    under their own names. Raises OSError."""
    mount("none", "/", "none", MS_REC | MS_PRIVATE)
    mount("tmpfs", scaffold, "tmpfs", MS_NOSUID, "size=1m,nr_inodes=2048,mode=755")
    _bind_system(scaffold)
    _make_devices(scaffold, devices)
    for name in ("proc", "tmp"):
        os.mkdir(f"{scaffold}/{name}")
    for prefix in python_prefixes():
        _bind_read_only(prefix, scaffold + prefix)
    for number, prefix in enumerate(_hidden_prefixes()):
        _bind_read_only(prefix, f"{scaffold}{_STASH}/{number}")
    mount("proc", f"{scaffold}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount("none", scaffold, "none", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID)
    pivot_root(scaffold)


def mount_own_places(uid: int, gid: int) -> None:
    """A child's part, in a mount namespace of its own: its own /proc with the machine's settings read-only and its
    secrets hidden, an empty writable /tmp and /dev/shm. The working directory becomes /tmp. Raises OSError."""
    mount("none", "/", "none", MS_REC | MS_PRIVATE)
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    for name in ("sys", "bus", "irq", "fs"):
        if os.path.isdir(f"/proc/{name}"):
            mount(f"/proc/{name}", f"/proc/{name}", "none", MS_BIND)
            mount("none", f"/proc/{name}", "none", _READ_ONLY_AGAIN | MS_NOEXEC)
    for name in _HIDDEN:
        if os.path.exists(f"/proc/{name}"):
            mount("/dev/null", f"/proc/{name}", "none", MS_BIND)
    _mount_scratch("/tmp", uid, gid, SCRATCH_MIB)
    _mount_scratch("/dev/shm", uid, gid, SHARED_MEMORY_MIB)
    for number, prefix in enumerate(_hidden_prefixes()):
        _bind_read_only(f"{_STASH}/{number}", prefix)
    os.chdir("/tmp")


def _bind_system(root: str) -> None:
    _bind_read_only("/usr", f"{root}/usr")
    for name in ("bin", "sbin", "lib", "lib64"):
        if os.path.islink(f"/{name}"):
            os.symlink(os.readlink(f"/{name}"), f"{root}/{name}")
        elif os.path.isdir(f"/{name}"):
            _bind_read_only(f"/{name}", f"{root}/{name}")
    os.mkdir(f"{root}/etc")
    if os.path.exists("/etc/ld.so.cache"):
        _bind_read_only("/etc/ld.so.cache", f"{root}/etc/ld.so.cache")


def _make_devices(root: str, further: Sequence[str]) -> None:
    os.mkdir(f"{root}/dev")
    for path in (*(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom")), *further):
        target = f"{root}/dev/{os.path.basename(path)}"
        Path(target).touch()
        mount(path, target, "none", MS_BIND)
    os.symlink("/proc/self/fd", f"{root}/dev/fd")
    os.mkdir(f"{root}/dev/shm")


def _mount_scratch(path: str, uid: int, gid: int, mebibytes: int) -> None:
    options = f"size={mebibytes}m,nr_inodes={_INODES},mode=700,uid={uid},gid={gid}"
    mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options)


def _hidden_prefixes() -> list[str]:
    return [prefix for prefix in python_prefixes() if prefix.startswith(("/tmp/", "/dev/shm/"))]


def python_prefixes() -> list[str]:
    """Absolute folders that Python needs at run time: outermost only, none below /usr."""
    wanted = {sys.prefix, sys.base_prefix, os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}
    wanted.update(os.path.dirname(os.path.realpath(path)) for path in [sys.executable])
    wanted.update(path for path in sys.path if os.path.isdir(path) and not _is_project_folder(path))
    wanted.update([os.path.realpath(path) for path in wanted])
    chosen: list[str] = []
    for path in sorted(os.path.abspath(path) for path in wanted):
        inside = any(path == outer or path.startswith(outer + "/") for outer in ["/usr", *chosen])
        if not inside and path != "/":
            chosen.append(path)
    return chosen


def _is_project_folder(path: str) -> bool:
    """The folder that contains this package also contains tests and settings; only the package itself is shown."""
    return os.path.realpath(path) == os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))


def _bind_read_only(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.makedirs(target, mode=0o755, exist_ok=True)
    else:
        Path(target).touch()
    mount(source, target, "none", MS_BIND)
    mount("none", target, "none", _READ_ONLY_AGAIN)
