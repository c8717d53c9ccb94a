"""Names the files and folders that an executor leaves on the machine by its process id and start time, since ids are
reused."""

from __future__ import annotations

import os


def owner_name() -> str:
    """This executor's part of a name: `<process id>-<start time in clock ticks since boot>`."""
    pid = os.getpid()
    return f"{pid}-{started(pid)}"


def is_dead(name: str) -> bool:
    """Whether the executor at the beginning of `name` is dead; False for a name of another form."""
    parts = name.split("-")
    if len(parts) < 2 or not (parts[0].isdigit() and parts[1].isdigit()):
        return False
    return started(int(parts[0])) != int(parts[1])


def started(pid: int) -> int:
    """When a process started; -1 when there is none with this id."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return int(file.read().rsplit(")", 1)[1].split()[19])
    except OSError:
        return -1
