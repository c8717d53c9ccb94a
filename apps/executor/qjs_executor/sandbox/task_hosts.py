"""Keeps hosts between two tasks of their job. A host belongs to one job only: its confinement is never given to another
one. It is killed when no task follows for a while, when a task leaves something behind, or to make room."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from ..job import HOST_SECONDS, HOSTS_MAX, Job
from .fair_places import place_to_free
from .live_execution import LiveExecution

Family = tuple[str, ...]
"""The tasks that may share a confinement: those of one job, with the same source, for the same backend. The first part
is the job's owner."""


def family_of(job: Job) -> Family | None:
    """None for a job that needs a child of its own: anything but a task of a named job, and anything that may be
    parked."""
    script = job.script
    if script.task is None or script.task_of is None or script.may_ask:
        return None
    source = hashlib.sha256(json.dumps(job.source, sort_keys=True).encode()).hexdigest()
    return job.owner, script.task_of, source, job.zygote, job.backend, job.engine


@dataclass(eq=False)
class _Waiting:
    family: Family
    run: LiveExecution
    free: asyncio.Future[bool]
    """Whether it can take a task; not done while its last task has not exited yet."""
    keeper: asyncio.Task[None] | None = None


@dataclass
class TaskHosts:
    """The hosts of one sandbox that have no task. `end` kills one for good; `is_free` waits until the last task of one
    has exited, and returns whether it may have another; `seconds` is how long one is kept."""

    end: Callable[[LiveExecution], object]
    is_free: Callable[[LiveExecution], Awaitable[bool]]
    places: int = HOSTS_MAX
    seconds: float = HOST_SECONDS
    _waiting: list[_Waiting] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._waiting)

    async def take(self, family: Family) -> LiveExecution | None:
        """Takes a free host of this family; waits for one whose last task is about to exit. None when there is none."""
        while mine := [host for host in self._waiting if host.family == family]:
            for host in mine:
                if host.free.done() and host.free.result():
                    self._forget(host)
                    return host.run
            await asyncio.wait([host.free for host in mine], return_when=asyncio.FIRST_COMPLETED)
        return None

    def keep(self, family: Family, run: LiveExecution) -> None:
        """Keeps a host whose task has responded."""
        if len(self._waiting) >= self.places:
            owners = [host.family[0] for host in self._waiting]
            at = place_to_free(owners, [True] * len(owners), family[0])
            assert at is not None
            self._leave(self._waiting[at])
        host = _Waiting(family, run, asyncio.get_running_loop().create_future())
        self._waiting.append(host)
        host.keeper = asyncio.create_task(self._keep(host))

    def close(self) -> None:
        """Kills all hosts."""
        for host in list(self._waiting):
            self._leave(host)

    async def _keep(self, host: _Waiting) -> None:
        free = await self.is_free(host.run)
        if free:
            host.free.set_result(True)
            await asyncio.wait([host.run.child.ended], timeout=self.seconds)
        self._leave(host)

    def _leave(self, host: _Waiting) -> None:
        self._forget(host)
        self.end(host.run)

    def _forget(self, host: _Waiting) -> None:
        self._waiting.remove(host)
        if not host.free.done():
            host.free.set_result(False)
        if host.keeper is not None and host.keeper is not asyncio.current_task():
            host.keeper.cancel()
