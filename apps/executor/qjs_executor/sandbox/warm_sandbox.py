"""A sandbox of pre-forked single-use children: each run gets one that is confined already and dies with it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

from ..service.logs import facts, log
from ..service.run_end import listen, outcome_of
from .cgroups import Hierarchy, find_hierarchy, remove_leftover_groups
from .landlock import landlock_abi
from .machine import check_expected, mend
from .pool import READY, RECYCLE_JOBS, Pool
from .pooled_child import PooledChild
from .seam import (
    Isolation,
    Job,
    Limits,
    Lost,
    Outcome,
    SandboxBusy,
    SandboxFacts,
    SandboxFault,
    SandboxInsecure,
    ZygoteSet,
)
from .selftest import LEVELS, NOTES, self_test
from .users import UserRange
from .work_folder import remove_leftovers
from .zygote_child import Plan

_WARNING = "this executor runs code without isolation (SANDBOX_ALLOW_INSECURE=1): for code that you trust only"
_SETS: tuple[ZygoteSet, ...] = ("circuits", "frameworks")


class WarmSandbox:
    """See `Sandbox`. `isolation` fixes the kind; without it the strongest whose self-test passes is taken. `memory` and
    `engine_memory`: bytes of address space, as in `Limits`. `allow_insecure`: where none works, runs are not isolated
    instead of refused. `groups`: whether control groups are used where they can be had."""

    def __init__(
        self,
        slots: int,
        memory_bytes: int,
        engine_memory_bytes: int,
        isolation: Isolation | None = None,
        recycle_jobs: int = RECYCLE_JOBS,
        allow_insecure: bool = False,
        groups: bool = True,
    ) -> None:
        self._slots = slots
        self._memory = (memory_bytes, engine_memory_bytes)
        self._wanted = isolation
        self._recycle_jobs = recycle_jobs
        self._allow_insecure = allow_insecure
        self._use_groups = groups
        self._problem = ""
        self._isolation: Isolation | None = None
        self._selftest: list[dict[str, Any]] = []
        self._groups = Hierarchy("none", {})
        self._users: UserRange | None = None
        self._pools: dict[ZygoteSet, Pool] = {}
        self._running: set[PooledChild] = set()
        self._taken = 0
        self._closing = False
        self._reapers: set[asyncio.Task[None]] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    async def start(self) -> None:
        """Tries the kinds of isolation, strongest first."""
        if sys.platform != "linux":
            self._problem = f"runs can be isolated on Linux only, and this is {sys.platform}; use the container"
            log.error("no run will be taken: %s", self._problem)
            return
        remove_leftovers()
        if self._use_groups:
            self._groups = find_hierarchy()
            remove_leftover_groups(self._groups)
        reasons = [reason for isolation in self._candidates() if (reason := await self._try(isolation))]
        if self._isolation is not None:
            return
        self._problem = f"no isolation works here: {'; '.join(reasons)}. Mend: {mend()}"
        if self._allow_insecure:
            log.error("RUNS ARE NOT ISOLATED: %s", self._problem)
            if reason := await self._try("process"):
                self._problem += f" (and without isolation: {reason})"
        else:
            log.error("no run will be taken: %s", self._problem)

    def _candidates(self) -> list[Isolation]:
        """Strongest first. What a run of an executor that is root could be root in is never among them."""
        if self._wanted:
            return [self._wanted]
        return ["namespaces", "uid"] if os.getuid() == 0 else ["rootless", "landlock"]

    async def _try(self, isolation: Isolation) -> str:
        """Takes this isolation, unless one is taken; answers why it cannot."""
        if self._isolation is not None:
            return ""
        try:
            await asyncio.to_thread(check_expected, isolation)
            await self._open(isolation)
            findings = await self_test(self._run, isolation)
        except SandboxFault as error:
            findings = [{"probe": isolation, "ok": False, "detail": str(error)}]
        self._selftest += findings
        broken = [f"{finding['probe']}: {finding['detail']}" for finding in findings if not finding["ok"]]
        if not broken:
            self._isolation = isolation
            return ""
        log.warning("this isolation does not work here", extra=facts(isolation=isolation, reason="; ".join(broken)))
        await self._close_pools()
        return "; ".join(broken)

    def facts(self) -> SandboxFacts:
        """See `Sandbox`."""
        isolation = self._isolation
        return SandboxFacts(
            level=LEVELS[isolation] if isolation else "none",
            note=NOTES[isolation] if isolation else "Runs are refused.",
            isolation=isolation or "none",
            slots_total=self._slots,
            slots_running=self._taken,
            selftest=self._selftest,
            cgroup=self._groups.kind,
            landlock_abi=landlock_abi(),
            seccomp=isolation is not None and isolation != "process",
            zygotes=[pool.facts() for pool in self._pools.values()],
            problem=self._problem,
            warning=_WARNING if isolation == "process" else "",
        )

    async def run(self, job: Job, limits: Limits, accepted: Callable[[], None]) -> Outcome:
        """See `Sandbox`."""
        if self._isolation is None:
            raise SandboxInsecure(self._problem or "the executor is not ready")
        return await self._run(job, limits, accepted)

    async def close(self) -> None:
        """See `Sandbox`."""
        self._closing = True
        for child in self._running:
            child.kill()
        await self._idle.wait()
        await self._close_pools()
        if self._users is not None:
            self._users.close()

    async def _open(self, isolation: Isolation) -> None:
        plan = Plan(isolation, *self._memory)
        own = isolation in ("namespaces", "uid")
        if own and self._users is None:
            self._users = UserRange()
        # Live children, idle ones too, have a user each.
        uids = deque(self._users.users if own and self._users else [os.getuid()] * (self._slots + 4 * READY))
        self._pools = {name: Pool(name, plan, uids, self._groups, self._recycle_jobs) for name in _SETS}
        # At once: what takes long is importing, and each zygote does that on a core of its own.
        starts = [asyncio.create_task(pool.start()) for pool in self._pools.values()]
        try:
            await asyncio.gather(*starts)
        except BaseException:
            for start in starts:
                start.cancel()
            await asyncio.gather(*starts, return_exceptions=True)
            raise

    async def _close_pools(self) -> None:
        await asyncio.gather(*(pool.close() for pool in self._pools.values()))
        self._pools = {}

    async def _run(self, job: Job, limits: Limits, accepted: Callable[[], None]) -> Outcome:
        if self._closing or self._taken >= self._slots:
            raise SandboxBusy
        pool = self._pools[job.zygote]
        self._taken += 1
        self._idle.clear()
        try:
            child = await pool.take(limits.start_seconds)
        except BaseException:
            self._release()
            raise
        pool.count_job()
        self._running.add(child)
        child.give(limits)
        answered = False
        watch = asyncio.create_task(child.watch_memory(max(self._memory))) if self._groups.kind == "none" else None
        try:
            end = await listen(child, job, limits, accepted)
            answered = end.kind == "answered"
        finally:
            if watch is not None:
                watch.cancel()
            # A task of its own: it goes on even if this coroutine is cancelled again.
            reaper = asyncio.create_task(self._reap(pool, child))
            self._reapers.add(reaper)
            reaper.add_done_callback(self._reapers.discard)
            try:
                # Who has answered is killed without anybody waiting for it: the kernel takes a while over its memory.
                await (child.printed() if answered else asyncio.shield(reaper))
            finally:
                self._release()
        if self._closing:
            return Lost("the executor was shut down during the run")
        note = _WARNING if self._isolation == "process" else ""
        return outcome_of(end, job, limits, child.stdout, child.stderr, note)

    async def _reap(self, pool: Pool, child: PooledChild) -> None:
        await pool.reap(child)
        self._running.discard(child)
        self._tell_idle()

    def _release(self) -> None:
        self._taken -= 1
        self._tell_idle()

    def _tell_idle(self) -> None:
        if self._taken == 0 and not self._running:
            self._idle.set()
