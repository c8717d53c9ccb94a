"""A sandbox of pre-forked single-use children: each run gets one that is confined already and dies with it."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable
from typing import Any

from ..service.run_end import listen, outcome_of
from .cgroups import Hierarchy, find_hierarchy, remove_leftover_groups
from .landlock import landlock_abi
from .pool import READY, RECYCLE_JOBS, Pool
from .pooled_child import PooledChild
from .seam import SLOTS_MAX, Isolation, Job, Limits, Lost, Outcome, SandboxBusy, SandboxFacts, SandboxFault, ZygoteSet
from .selftest import LEVELS, NOTES, candidates, self_test
from .zygote_child import Plan
from .zygote_process import remove_leftovers

_UIDS = 2 * SLOTS_MAX
_UID_BASE = 60_000 + os.getpid() % 43 * _UIDS
"""Live children, idle ones too, have a user each from here on: below 65536, which is all that a container may have,
given to nobody, and as a rule not the range of another executor on the same machine, because the processes of a user
share one limit."""
_SETS: tuple[ZygoteSet, ...] = ("circuits", "frameworks")


class WarmSandbox:
    """See `Sandbox`. `isolation` fixes the kind; without it the strongest whose self-test passes is taken. `memory` and
    `engine_memory`: bytes of address space, as in `Limits`."""

    def __init__(
        self,
        slots: int,
        memory_bytes: int,
        engine_memory_bytes: int,
        isolation: Isolation | None = None,
        recycle_jobs: int = RECYCLE_JOBS,
    ) -> None:
        self._slots = slots
        self._memory = (memory_bytes, engine_memory_bytes)
        self._wanted = isolation
        self._recycle_jobs = recycle_jobs
        self._isolation: Isolation | None = None
        self._selftest: list[dict[str, Any]] = []
        self._groups = Hierarchy("none", {})
        self._pools: dict[ZygoteSet, Pool] = {}
        self._running: set[PooledChild] = set()
        self._taken = 0
        self._closing = False
        self._reapers: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Tries the kinds of isolation, strongest first. Raises SandboxFault when none passes its self-test."""
        remove_leftovers()
        self._groups = find_hierarchy()
        remove_leftover_groups(self._groups)
        reason = "no kind of isolation is known for this user"
        for isolation in candidates(self._wanted):
            try:
                await self._open(isolation)
                findings = await self_test(self._run, isolation)
            except SandboxFault as error:
                findings = [{"probe": isolation, "ok": False, "detail": str(error)}]
            self._selftest += findings
            broken = [finding for finding in findings if not finding["ok"]]
            if not broken:
                self._isolation = isolation
                return
            reason = "; ".join(f"{finding['probe']}: {finding['detail']}" for finding in broken)
            await self._close_pools()
        raise SandboxFault(f"no isolation works here: {reason}")

    def facts(self) -> SandboxFacts:
        """See `Sandbox`."""
        assert self._isolation is not None, "asked before it was started"
        return SandboxFacts(
            level=LEVELS[self._isolation],
            note=NOTES[self._isolation],
            isolation=self._isolation,
            slots_total=self._slots,
            slots_running=self._taken,
            selftest=self._selftest,
            cgroup=self._groups.kind,
            landlock_abi=landlock_abi(),
            seccomp=True,
            zygotes=[pool.facts() for pool in self._pools.values()],
        )

    async def run(self, job: Job, limits: Limits, accepted: Callable[[], None]) -> Outcome:
        """See `Sandbox`."""
        return await self._run(job, limits, accepted)

    async def close(self) -> None:
        """See `Sandbox`."""
        self._closing = True
        for child in self._running:
            child.kill()
        while self._reapers or self._running:
            await asyncio.sleep(0.005)
        await self._close_pools()

    async def _open(self, isolation: Isolation) -> None:
        plan = Plan(isolation, *self._memory)
        own = isolation in ("namespaces", "uid")
        uids = deque(range(_UID_BASE, _UID_BASE + _UIDS) if own else [os.getuid()] * (self._slots + 4 * READY))
        self._pools = {name: Pool(name, plan, uids, self._groups, self._recycle_jobs) for name in _SETS}
        for pool in self._pools.values():
            await pool.start()

    async def _close_pools(self) -> None:
        await asyncio.gather(*(pool.close() for pool in self._pools.values()))
        self._pools = {}

    async def _run(self, job: Job, limits: Limits, accepted: Callable[[], None]) -> Outcome:
        if self._closing or self._taken >= self._slots:
            raise SandboxBusy
        pool = self._pools[job.zygote]
        self._taken += 1
        try:
            child = await pool.take(limits.start_seconds)
        except BaseException:
            self._taken -= 1
            raise
        pool.count_job()
        self._running.add(child)
        child.give(limits)
        try:
            end = await listen(child, job, limits, accepted)
        finally:
            # A task of its own: the slot comes back when the run is dead, even if this coroutine is cancelled again.
            reaper = asyncio.create_task(self._reap(pool, child))
            self._reapers.add(reaper)
            reaper.add_done_callback(self._reapers.discard)
            await asyncio.shield(reaper)
        if self._closing:
            return Lost("the executor was shut down during the run")
        return outcome_of(end, job, limits, child.stdout, child.stderr)

    async def _reap(self, pool: Pool, child: PooledChild) -> None:
        await pool.reap(child)
        self._running.discard(child)
        self._taken -= 1
