"""Counts what an execution has in its folder, where no mount of a fixed size bounds it.

A file that was deleted while it is open is in no folder, so it is not counted; the file system bounds those of all
executions together.
"""

from __future__ import annotations

import os
import time

from ..job import MIB

BYTES_MAX = 64 * MIB
FILES_MAX = 8192
"""Files and folders. The same bounds as where an execution has mounts of its own."""
INTERVAL_SECONDS = 0.25
_SHARE = 20
"""Counting takes at most this part of the time: a large folder is counted less often."""


class FolderWatch:
    """Counts one folder again and again."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._due = time.monotonic() + INTERVAL_SECONDS

    def due_in(self) -> float:
        """Seconds until the next count."""
        return max(0.0, self._due - time.monotonic())

    def is_over(self) -> bool:
        """Counts; returns whether the folder holds more than it may."""
        started = time.monotonic()
        over = holds_too_much(self._folder)
        ended = time.monotonic()
        self._due = ended + max(INTERVAL_SECONDS, _SHARE * (ended - started))
        return over


def holds_too_much(folder: str, bytes_max: int = BYTES_MAX, files_max: int = FILES_MAX) -> bool:
    """Whether a folder that user code writes to at the same time holds more than this. A folder in it that cannot be
    read, or whose path is too long, counts as too much."""
    size = files = 0
    folders = [folder]
    for one in folders:
        try:
            with os.scandir(one) as entries:
                for entry in entries:
                    files += 1
                    try:
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(entry.path)
                    except FileNotFoundError:
                        continue
                    if size > bytes_max or files > files_max:
                        return True
        except (FileNotFoundError, NotADirectoryError):
            continue  # It was removed or replaced in the meantime.
        except OSError:
            return True
    return False
