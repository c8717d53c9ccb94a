"""A sandbox of fresh child processes: one per run, nothing reused, each in a slot with a user of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from ..service.run_end import listen, outcome_of
from .child_process import ChildProcess, remove_leftovers
from .seam import Isolation, Job, Limits, Lost, Outcome, SandboxBusy, SandboxFacts, SandboxFault
from .selftest import NOTES, choose_isolation


class ChildProcessSandbox:
    """See `Sandbox`. `isolation` fixes the kind; without it the strongest that works here is found at the start."""

    def __init__(self, slots: int, isolation: Isolation | None = None) -> None:
        self._slots = slots
        self._free = list(range(slots))
        self._wanted = isolation
        self._isolation: Isolation = isolation or "process"
        self._selftest: list[dict[str, Any]] = []
        self._closing = False
        self._children: set[ChildProcess] = set()
        self._reapers: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Tries the kinds of isolation, strongest first. Raises SandboxFault when none passes."""
        remove_leftovers()
        self._isolation, self._selftest = await choose_isolation(self._run, self._wanted)

    def facts(self) -> SandboxFacts:
        """See `Sandbox`."""
        return SandboxFacts(
            level="child-process",
            note=NOTES[self._isolation],
            isolation=self._isolation,
            slots_total=self._slots,
            slots_running=self._slots - len(self._free),
            selftest=self._selftest,
        )

    async def run(self, job: Job, limits: Limits, accepted: Callable[[], None]) -> Outcome:
        """See `Sandbox`."""
        return await self._run(job, limits, accepted, self._isolation)

    async def close(self) -> None:
        """See `Sandbox`."""
        self._closing = True
        for child in self._children:
            child.kill()
        while self._children:
            await asyncio.wait([asyncio.create_task(child.reap()) for child in self._children])
            await asyncio.sleep(0)

    async def _run(self, job: Job, limits: Limits, accepted: Callable[[], None], isolation: Isolation) -> Outcome:
        if self._closing or not self._free:
            raise SandboxBusy
        slot = self._free.pop(0)
        try:
            child = ChildProcess(slot, isolation, limits)
        except OSError as error:
            self._free.append(slot)
            raise SandboxFault(f"cannot start a child process: {error}") from error
        self._children.add(child)
        try:
            end = await listen(child, job, limits, accepted)
        finally:
            # A task of its own: the slot comes back when the run is dead, even if this coroutine is cancelled again.
            reaper = asyncio.create_task(self._reap(child, slot))
            self._reapers.add(reaper)
            reaper.add_done_callback(self._reapers.discard)
            await asyncio.shield(reaper)
        if self._closing:
            return Lost("the executor was shut down during the run")
        return outcome_of(end, job, limits, child.stdout, child.stderr)

    async def _reap(self, child: ChildProcess, slot: int) -> None:
        await child.reap()
        self._children.discard(child)
        self._free.append(slot)
