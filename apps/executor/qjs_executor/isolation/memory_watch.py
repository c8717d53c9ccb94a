"""The memory of a run as a whole where there is no control group: counted several times a second, and the run is killed
above its budget.

Counted is what the processes of a run hold beyond what its first process held when it was ready, since until then all
of it is shared with the zygote. What two processes of a run share between them counts for each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from .linux import children_of

INTERVAL_SECONDS = 0.1


async def watch_memory(pid: int, budget_bytes: int, kill: Callable[[], None]) -> None:
    """Counts until the run of the process `pid` holds more than `budget_bytes`; then calls `kill` once and returns. To
    be cancelled when the run ends. `pid` has been given no job yet."""
    idle = max((_held(process) for process in _family(pid)), default=0)
    while True:
        if sum(max(0, _held(process) - idle) for process in _family(pid)) > budget_bytes:
            kill()
            return
        await asyncio.sleep(INTERVAL_SECONDS)


def _family(pid: int) -> list[int]:
    """A process and all that it has started, as far as they descend from it or were adopted below it."""
    found = [pid]
    for one in found:
        found.extend(children_of(one))
    return found


def _held(pid: int) -> int:
    """Bytes of memory that is no file's, shared memory included; 0 once the process is gone."""
    kibibytes = 0
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith(("RssAnon:", "RssShmem:")):
                    kibibytes += int(line.split()[1])
    except (OSError, ValueError):
        return 0
    return kibibytes * 1024
