"""A read-only root of its own for a run: the system's libraries, Python and its packages, nothing else of the machine.

Paths stay the same as outside, because loaded packages remember theirs. A prefix below a folder that only its owner may
enter (a home folder) becomes reachable, since the folders above it are made anew.
"""

from __future__ import annotations

import os
import sys
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

_SCRATCH_MIB = 64
_INODES = 8192
"""Bounds each writable folder; without it a run could fill the kernel's memory with empty files."""


def enter_private_root(scaffold: str, uid: int) -> None:
    """Builds the root on the empty folder `scaffold` and enters it, in a mount namespace of the caller's own. The
    working directory becomes /tmp, writable for `uid`. Raises OSError."""
    mount("none", "/", "none", MS_REC | MS_PRIVATE)
    mount("tmpfs", scaffold, "tmpfs", MS_NOSUID, "size=1m,nr_inodes=2048,mode=755")
    _bind_system(scaffold)
    _make_devices(scaffold, uid)
    os.mkdir(f"{scaffold}/proc")
    _make_scratch(f"{scaffold}/tmp", uid)
    for prefix in _python_prefixes():
        _bind_read_only(prefix, scaffold + prefix)
    mount("none", scaffold, "none", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID)
    pivot_root(scaffold)
    os.chdir("/tmp")


def mount_own_proc() -> None:
    """Mounts /proc for the caller's own process namespace; it shows no process outside it."""
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)


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


def _make_devices(root: str, uid: int) -> None:
    os.mkdir(f"{root}/dev")
    for name in ("null", "zero", "full", "random", "urandom"):
        Path(f"{root}/dev/{name}").touch()
        mount(f"/dev/{name}", f"{root}/dev/{name}", "none", MS_BIND)
    os.symlink("/proc/self/fd", f"{root}/dev/fd")
    _make_scratch(f"{root}/dev/shm", uid)


def _make_scratch(path: str, uid: int) -> None:
    os.mkdir(path)
    options = f"size={_SCRATCH_MIB}m,nr_inodes={_INODES},mode=700,uid={uid},gid={uid}"
    mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options)


def _python_prefixes() -> list[str]:
    """Absolute folders that Python needs at run time, outermost only, none below /usr."""
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
    """The folder that holds this package holds tests and settings too; only the package itself is shown."""
    return os.path.realpath(path) == os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))


def _bind_read_only(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.makedirs(target, mode=0o755, exist_ok=True)
    else:
        Path(target).touch()
    mount(source, target, "none", MS_BIND)
    mount("none", target, "none", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)
