"""Folders on the machine's disk: those of zygotes and, where an execution has no /tmp of its own, of executions. Their
names contain their executor, so that the next one can tell whether the owner is alive."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time

from .owner import is_dead, owner_name

_PREFIX = "qjs-pool-"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
LEFTOVER_SECONDS = 10.0
"""How much time the start may spend on the folders of executors that were killed."""


def make_work_folder() -> str:
    """A new folder that others can enter but not list or change."""
    folder = tempfile.mkdtemp(prefix=f"{_PREFIX}{owner_name()}-")
    os.chmod(folder, 0o711)
    return folder


def remove_leftovers() -> None:
    """Removes the folders of executors of this user that are dead."""
    deadline = time.monotonic() + LEFTOVER_SECONDS
    for entry in os.scandir(tempfile.gettempdir()):
        owner = entry.name.removeprefix(_PREFIX)
        if owner == entry.name or not is_dead(owner):
            continue
        with contextlib.suppress(OSError):
            # The temporary folder is shared: another user's folder with such a name is left alone.
            if entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == os.getuid():
                remove_tree(entry.path, deadline - time.monotonic())


def remove_tree(folder: str, seconds: float) -> None:
    """Removes a folder that user code no longer writes to, as far as the time allows. It uses one descriptor and no
    recursion, so neither the stack nor the length of a path can be exceeded. Raises OSError for what cannot be
    removed."""
    deadline = time.monotonic() + seconds
    os.chmod(folder, 0o700)
    here = os.open(folder, _FOLDER)
    try:
        above: list[str] = []
        waiting = [_remove_files(here, deadline)]
        while time.monotonic() < deadline:
            if waiting[-1]:
                name = waiting[-1].pop()
                os.chmod(name, 0o700, dir_fd=here)
                below = os.open(name, _FOLDER, dir_fd=here)
                os.close(here)
                here = below
                above.append(name)
                waiting.append(_remove_files(here, deadline))
            elif above:
                parent = os.open("..", _FOLDER, dir_fd=here)
                os.close(here)
                here = parent
                waiting.pop()
                os.rmdir(above.pop(), dir_fd=here)
            else:
                break
    finally:
        os.close(here)
    with contextlib.suppress(OSError):
        os.rmdir(folder)


def _remove_files(folder: int, deadline: float) -> list[str]:
    """Removes everything that is not a folder; returns the names of the folders."""
    folders = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            elif time.monotonic() < deadline:
                os.unlink(entry.name, dir_fd=folder)
    return folders
