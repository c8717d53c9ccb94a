"""A sandbox of pre-forked single-use children: each execution gets a child that is already confined and dies with
it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any

from ..isolation.landlock import landlock_abi
from ..job import (
    ASKS_MAX,
    HOSTS_MAX,
    PARKED_MAX,
    PARKED_SECONDS,
    SHARED_USER,
    WITH_NAMESPACES,
    Asked,
    Isolation,
    Job,
    Limits,
    Lost,
    Outcome,
    SandboxBusy,
    SandboxDraining,
    SandboxFacts,
    SandboxFault,
    SandboxInsecure,
    ZygoteSet,
)
from ..launcher.client import LauncherClient
from ..launcher.orders import SETS
from ..logs import facts, log
from ..printed_text import PrintedText
from .execution_end import ExecutionEnd, answer_and_listen, is_free_again, listen, outcome_of
from .live_execution import LiveExecution
from .parking import Parking
from .pool import READY, RECYCLE_JOBS, Pool
from .pooled_child import PooledChild
from .selftest import LEVELS, NOTES, frameworks_test, self_test
from .task_hosts import Family, TaskHosts, family_of

_WARNING = "this executor runs code without isolation (SANDBOX_ALLOW_INSECURE=1): for code that you trust only"


class WarmSandbox:
    """See `Sandbox`. Takes the strongest kind of isolation on offer whose self-test passes. `groups`: whether control
    groups are used where they exist; `parked_seconds`: how long an execution that waits for an answer is kept."""

    def __init__(
        self,
        launcher: LauncherClient,
        slots: int,
        recycle_jobs: int = RECYCLE_JOBS,
        groups: bool = True,
        parked_seconds: float = PARKED_SECONDS,
    ) -> None:
        self._launcher = launcher
        self._offer = launcher.handover
        self._slots = slots
        self._recycle_jobs = recycle_jobs
        self._groups = groups and self._offer.cgroup != "none"
        self._problem = ""
        self._isolation: Isolation | None = None
        self._selftest: list[dict[str, Any]] = []
        self._pools: dict[ZygoteSet, Pool] = {}
        self._warming: asyncio.Task[str] | None = None
        """The start of the frameworks' zygote, in which every framework is imported; None until it is needed."""
        self._running: set[PooledChild] = set()
        self._parking = Parking(self._end, seconds=parked_seconds)
        self._hosts = TaskHosts(self._end, _is_free)
        self._taken = 0
        self._draining = self._closing = False
        self._reapers: set[asyncio.Task[None]] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    async def start(self) -> None:
        """Tries the kinds of isolation, strongest first."""
        reasons = [reason for isolation in self._offer.isolations if (reason := await self._try(isolation))]
        if self._isolation is None:
            await self._start_insecure(reasons)
        if self._isolation is not None and self._offer.settings.warm_frameworks:
            self._begin_warming()

    async def _start_insecure(self, reasons: list[str]) -> None:
        """No isolation works: refuses jobs, or executes them without isolation where the operator has allowed that."""
        self._problem = f"no isolation works here: {'; '.join(reasons)}. To fix this: {self._offer.how_to_fix}"
        if self._offer.settings.allow_insecure:
            log.error("RUNS ARE NOT ISOLATED: %s", self._problem)
            if reason := await self._try("process"):
                self._problem += f" (and without isolation: {reason})"
        else:
            log.error("jobs will be refused: %s", self._problem)

    async def _try(self, isolation: Isolation) -> str:
        """Tries this isolation unless one is in use already; returns why it cannot be used."""
        if self._isolation is not None:
            return ""
        try:
            await self._open(isolation)
            findings = await self_test(self._run, isolation, self._offer.launcher)
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
            note=NOTES[isolation] if isolation else "Jobs are refused.",
            isolation=isolation or "none",
            slots_total=self._slots,
            slots_running=self._taken,
            draining=self._draining,
            parked=len(self._parking),
            parkings=dict(self._parking.left),
            selftest=self._selftest,
            cgroup=self._offer.cgroup if self._groups else "none",
            landlock_abi=landlock_abi(),
            seccomp=isolation is not None and isolation != "process",
            zygotes=[pool.facts() for pool in self._pools.values()],
            problem=self._problem,
            warning=_WARNING if isolation == "process" else "",
        )

    async def prepare(self, job: Job, limits: Limits) -> None:
        """See `Sandbox`."""
        if job.zygote == "circuits" or self._isolation is None:
            return  # The packages of circuits are imported before the executor is ready.
        warming = self._begin_warming()
        await asyncio.wait([warming], timeout=limits.start_seconds)
        if not warming.done():
            raise SandboxFault("the frameworks are still being imported")
        if reason := "the executor is shutting down" if warming.cancelled() else warming.result():
            raise SandboxFault(f"the frameworks could not be imported: {reason}")

    def _begin_warming(self) -> asyncio.Task[str]:
        """Starts to import every framework, in a task that a caller's hang-up does not stop. An import that failed is
        repeated."""
        last = self._warming
        if last is None or (last.done() and not last.cancelled() and last.result()):
            self._warming = last = asyncio.create_task(self._warm())
        return last

    async def _warm(self) -> str:
        """Imports every framework; returns why it cannot, empty when it could."""
        started = asyncio.get_running_loop().time()
        try:
            await self._pools["frameworks"].start()
            if self._isolation != "process":
                finding = await frameworks_test(partial(self._run, beyond_slots=True))
                self._selftest = [one for one in self._selftest if one["probe"] != finding["probe"]] + [finding]
                if not finding["ok"]:
                    raise SandboxFault(f"{finding['probe']}: {finding['detail']}")
        except (SandboxFault, SandboxBusy, OSError) as error:
            if not self._closing:
                log.error("the frameworks could not be imported", extra=facts(reason=str(error)))
            return str(error) or "the executor is shutting down"
        log.info("frameworks imported", extra=facts(seconds=round(asyncio.get_running_loop().time() - started, 1)))
        return ""

    async def run(
        self, job: Job, limits: Limits, accepted: Callable[[], None], printed: PrintedText | None = None
    ) -> Outcome:
        """See `Sandbox`."""
        if self._isolation is None:
            raise SandboxInsecure(self._problem or "the executor is not ready")
        await self.prepare(job, limits)
        if self._draining and job.first_stage is None:
            raise SandboxDraining
        if job.script.resume is not None:
            return await self._resume(job, job.script.resume, limits, accepted, printed)
        return await self._run(job, limits, accepted, printed)

    def hold(self, run_id: str) -> AbstractContextManager[Job]:
        """See `Sandbox`."""
        return self._parking.hold(run_id)

    def drain(self) -> None:
        """See `Sandbox`."""
        self._draining = True
        self._parking.close()
        self._hosts.close()

    async def close(self) -> None:
        """See `Sandbox`."""
        self._draining = self._closing = True
        self._parking.close()
        self._hosts.close()
        for child in self._running:
            child.kill()
        await self._idle.wait()
        await self._close_pools()

    async def _open(self, isolation: Isolation) -> None:
        # Every live child has a user, idle ones and the frameworks' probe included.
        shared = [self._offer.user] * (self._slots + PARKED_MAX + HOSTS_MAX + 4 * READY + 1)
        uids = deque(shared if isolation in SHARED_USER else range(*self._offer.users))
        self._pools = {
            name: Pool(self._launcher, name, isolation, uids, self._groups, self._recycle_jobs) for name in SETS
        }
        # Importing every framework takes several times as long, and most programs need no other framework.
        await self._pools["circuits"].start()

    async def _close_pools(self) -> None:
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)
        await asyncio.gather(*(pool.close() for pool in self._pools.values()))
        self._pools = {}

    async def _run(
        self,
        job: Job,
        limits: Limits,
        accepted: Callable[[], None],
        printed: PrintedText | None = None,
        beyond_slots: bool = False,
    ) -> Outcome:
        if self._closing or (self._taken >= self._slots and not beyond_slots):
            raise SandboxBusy
        self._taken += 1
        self._idle.clear()
        # Only the first process of a namespace of its own is safe from what its tasks may do.
        family = family_of(job) if self._isolation in WITH_NAMESPACES else None
        try:
            host = await self._hosts.take(family) if family else None
            run = host or await self._begin(job, limits, hosts=family is not None)
        except BaseException:
            self._release()
            raise
        run.child.give(limits)
        run.follow(printed)
        run.remember(job)
        try:
            return await self._stretch(run, job, limits, listen(run.child, job, limits, accepted), family)
        except SandboxFault:
            if not host:
                raise
        # The host exited while it waited.
        return await self._run(job, limits, accepted, printed)

    async def _begin(self, job: Job, limits: Limits, hosts: bool) -> LiveExecution:
        """A child that has no job yet, or a host that has had no task."""
        pool = self._pools[job.zygote]
        child = await (pool.take_host if hosts else pool.take)(limits.start_seconds)
        pool.count_job()
        self._running.add(child)
        if job.script.may_ask or hosts:
            child.measure_idle()
        settings = self._offer.settings
        memory = max(settings.memory_bytes, settings.engine_memory_bytes)
        own_network = pool.isolation in WITH_NAMESPACES
        watch = None if self._groups else asyncio.create_task(child.watch_memory(memory, own_network))
        return LiveExecution(pool, child, watch, asked=len(job.script.answers))

    async def _resume(
        self, job: Job, run_id: str, limits: Limits, accepted: Callable[[], None], printed: PrintedText | None
    ) -> Outcome:
        """Resumes a parked execution, which the caller holds."""
        if self._closing or self._taken >= self._slots:
            raise SandboxBusy
        if (parked := self._parking.peek(run_id)) is not None:
            parked.check_answer(job)
        run = self._parking.take(run_id)
        run.remember(job)
        self._taken += 1
        self._idle.clear()
        run.child.give(limits)
        run.follow(printed)
        run.child.resume()
        accepted()
        return await self._stretch(run, job, limits, answer_and_listen(run.child, job, limits))

    async def _stretch(
        self,
        run: LiveExecution,
        job: Job,
        limits: Limits,
        talk: Coroutine[Any, Any, ExecutionEnd],
        family: Family | None = None,
    ) -> Outcome:
        """An execution from its start, or an answer, to its end or its next request, with which it is parked. A host of
        the tasks of `family` is kept for the next one."""
        child = run.child
        answered = kept = parked = False
        try:
            end = self._checked(await talk, run)
            answered = end.kind in ("answered", "asked")
            if end.kind == "asked" and not run.final:
                kept = parked = await self._park(run, job)
            elif end.kind == "answered" and family:
                kept = await self._keep(run, family)
        finally:
            # A task of its own, which continues even if this coroutine is cancelled again.
            reaper = None if kept else self._end(run)
            try:
                # A child that has responded is killed without waiting for it: the kernel takes a while to free its
                # memory.
                if reaper is not None:
                    await (child.printed() if answered else asyncio.shield(reaper))
            finally:
                self._release()
        if self._closing:
            return Lost("the executor was shut down during the run", shut_down=True)
        note = _WARNING if self._isolation == "process" else ""
        # No await stands between keeping a host and this line: what it has printed still belongs to this task.
        outcome = outcome_of(end, job, limits, run, note)
        if isinstance(outcome, Asked):
            return replace(outcome, parked=parked)
        if run.printed is not None:
            run.printed.end_of_child()
        run.follow(None)
        return outcome

    @staticmethod
    def _checked(end: ExecutionEnd, run: LiveExecution) -> ExecutionEnd:
        """The end of a stretch; a request in it is checked and stored."""
        if end.ask is None:
            return end
        if run.asked >= ASKS_MAX:
            return replace(end, kind="too_many_asks")
        if end.ask["number"] != run.asked + 1:
            return replace(end, kind="bad_answer", ask=None, detail="ask: number")
        run.asked += 1
        run.ask = end.ask
        return end

    async def _park(self, run: LiveExecution, job: Job) -> bool:
        """Parks the execution; returns whether it now waits in a place of its own."""
        try:
            await run.child.stop()
        except SandboxFault as error:
            log.warning("an execution was not parked", extra=facts(**job.named, reason=str(error)))
            return False
        return not self._draining and self._parking.park(job, run)

    async def _keep(self, run: LiveExecution, family: Family) -> bool:
        """Keeps a host whose task has responded; returns whether it now waits for the next one."""
        await run.child.printed_so_far()
        if self._draining or run.child.is_flooded:
            return False
        self._hosts.keep(family, LiveExecution(run.pool, run.child, run.watch))
        return True

    def _end(self, run: LiveExecution) -> asyncio.Task[None]:
        """Kills an execution; the task is done when nothing of it is alive."""
        if run.watch is not None:
            run.watch.cancel()
        reaper = asyncio.create_task(self._reap(run.pool, run.child))
        self._reapers.add(reaper)
        reaper.add_done_callback(self._reapers.discard)
        return reaper

    async def _reap(self, pool: Pool, child: PooledChild) -> None:
        await pool.reap(child)
        self._running.discard(child)
        self._check_idle()

    def _release(self) -> None:
        self._taken -= 1
        self._check_idle()

    def _check_idle(self) -> None:
        if self._taken == 0 and not self._running:
            self._idle.set()


async def _is_free(host: LiveExecution) -> bool:
    """Waits until a host can take its next task; returns whether it can."""
    if not await is_free_again(host.child):
        return False
    await host.child.renew()
    return not host.child.is_flooded
