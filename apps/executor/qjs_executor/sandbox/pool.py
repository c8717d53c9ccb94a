"""Ready children of one set of packages: kept in stock, handed out once; their zygote is renewed and restarted."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Literal

from ..isolation.linux import children_of
from ..job import Isolation, SandboxFault, ZygoteSet
from ..launcher.client import LauncherClient
from ..logs import facts, log
from ..protocol.frame_reader import BadFrame, read_frame
from .pooled_child import PooledChild
from .zygote_process import ZygoteProcess

READY = 2
"""Children in stock; a new one takes about 10 ms."""
RESTOCK_SECONDS = 0.1
"""The stock is refilled after an execution, or after this time when the execution takes longer."""
READY_SECONDS = 20.0
READY_BYTES_MAX = 64 * 1024
RECYCLE_JOBS = 500
RECYCLE_SECONDS = 30 * 60.0
"""Children of one zygote share their memory layout and hash seed, so a zygote is replaced from time to time."""
FAULTS_IN_A_ROW_MAX = 3
UNFORKED_IN_A_ROW_MAX = 20
"""A zygote without children is renewed after this many failed forks; one with children never is for that."""
UNFORKED_SECONDS = 0.5
"""How long to wait after a fork that failed: the machine or its temporary folder is full at the moment."""
RESTART_SECONDS = (0.1, 1.0, 5.0, 30.0)
"""How long to wait before a zygote that failed repeatedly is started again."""


class Pool:
    """One zygote and its children. `uids` is the stock of free users, shared with other pools; `groups`: whether each
    child gets a control group."""

    def __init__(
        self,
        launcher: LauncherClient,
        zygote_set: ZygoteSet,
        isolation: Isolation,
        uids: deque[int],
        groups: bool,
        recycle_jobs: int = RECYCLE_JOBS,
    ) -> None:
        self._launcher = launcher
        self.zygote_set: ZygoteSet = zygote_set
        self.last_error = ""
        self.isolation: Isolation = isolation
        self._uids = uids
        self._groups = groups
        self._recycle_jobs = recycle_jobs
        self._zygote: ZygoteProcess | None = None
        self._ready: deque[PooledChild] = deque()
        self._waiting: deque[asyncio.Future[PooledChild]] = deque()
        self._waiting_for_hosts: deque[asyncio.Future[PooledChild]] = deque()
        self._preparing: Counter[bool] = Counter()
        """Children that are being confined, by whether they host tasks."""
        self._jobs = 0
        self._restarts = 0
        self._recycled = 0
        self._faults = 0
        self._unforked = 0
        self._refork: asyncio.TimerHandle | None = None
        """Set while no fork is tried, because the last one failed."""
        self._given_up = 0
        """Executions that were killed and have not died."""
        self._closing = False
        self._state: Literal["cold", "starting", "down"] = "cold"
        """The state while no zygote is up."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._zygotes: set[ZygoteProcess] = set()

    async def start(self) -> None:
        """Starts the zygote and waits for its first child. Raises SandboxFault."""
        if self._zygote is None:
            self._state = "starting"
            try:
                await self._start_zygote()
            except BaseException as error:
                self.last_error = str(error)
                raise
            finally:
                self._state = "down"
        child = await self.take(READY_SECONDS)
        self.give_back(child)

    async def take(self, seconds: float) -> PooledChild:
        """Takes a ready child; waits for one at most `seconds`. Raises SandboxFault."""
        while self._ready:
            child = self._ready.popleft()
            if not child.ended.done():
                # A fork during a short execution would take its core; with another child in stock it can wait until
                # afterwards.
                asyncio.get_running_loop().call_later(RESTOCK_SECONDS if self._ready else 0, self._stock)
                return child
        return await self._wait(self._waiting, seconds, self.give_back)

    async def take_host(self, seconds: float) -> PooledChild:
        """Takes a host of tasks; there is no stock of them. Raises SandboxFault."""
        return await self._wait(self._waiting_for_hosts, seconds, lambda host: self._spawn(self.reap(host)))

    async def _wait(
        self,
        waiting: deque[asyncio.Future[PooledChild]],
        seconds: float,
        undo: Callable[[PooledChild], None],
    ) -> PooledChild:
        waiter: asyncio.Future[PooledChild] = asyncio.get_running_loop().create_future()
        waiting.append(waiter)
        self._stock()
        try:
            return await asyncio.wait_for(waiter, seconds)
        except TimeoutError:
            reason = self.last_error or "none was ready in time"
            raise SandboxFault(f"no child for {self.zygote_set}: {reason}") from None
        finally:
            with contextlib.suppress(ValueError):
                waiting.remove(waiter)
            if waiter.done() and not waiter.cancelled() and asyncio.current_task().cancelling():  # type: ignore[union-attr]
                undo(waiter.result())

    def give_back(self, child: PooledChild) -> None:
        """Returns a child that has not been given a job."""
        self._ready.append(child)

    async def reap(self, child: PooledChild) -> None:
        """Kills a child; returns when nothing of it is alive and its user is free again. The user of one that the
        kernel does not kill in time stays taken until it is dead."""
        if await child.reap():
            self._uids.append(child.uid)
            self._stock()
            return
        self._given_up += 1
        child.ended.add_done_callback(lambda _: self._died_late(child.uid))

    def _died_late(self, uid: int) -> None:
        self._given_up -= 1
        self._uids.append(uid)
        self._stock()

    def count_job(self) -> None:
        """Counts one job for this zygote; renews the zygote when it has served enough."""
        self._jobs += 1
        zygote = self._zygote
        if zygote is None or self._closing:
            return
        if self._jobs >= self._recycle_jobs or time.monotonic() - zygote.started > RECYCLE_SECONDS:
            self._jobs = 0
            self._spawn(self._recycle(zygote))

    def facts(self) -> dict[str, Any]:
        """For the health response."""
        zygote = self._zygote
        return {
            "set": self.zygote_set,
            "up": zygote is not None,
            "state": "up" if zygote else self._state,
            "ready": len(self._ready),
            "given_up": self._given_up,
            "jobs": self._jobs,
            "restarts": self._restarts,
            "recycled": self._recycled,
            "age_s": round(time.monotonic() - zygote.started, 1) if zygote else 0,
            "versions": zygote.versions if zygote else {},
            "own_bytes": zygote.own_bytes if zygote else 0,
            "layers": self._ready[0].layers if self._ready else [],
            "pids": sorted(self._stock_pids()),
            "last_error": self.last_error,
        }

    def _stock_pids(self) -> set[int]:
        """Processes that belong to no execution: zygotes, and children without a job."""
        idle = {child.pid for one in self._zygotes for child in one.children.values() if not child.given}
        idle |= {first for guard in idle for first in children_of(guard)}
        # A zygote that still imports has no child of its own: its first process has one, the zygote itself.
        importing = {pid for one in self._zygotes if not one.is_up for pid in children_of(one.pid)}
        return idle | importing | {pid for one in self._zygotes for pid in (one.pid, one.inner_pid)}

    async def close(self) -> None:
        """Stops the zygote and kills all of its children."""
        self._closing = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for waiter in [*self._waiting, *self._waiting_for_hosts]:
            waiter.cancel()
        await asyncio.gather(*(zygote.close() for zygote in list(self._zygotes)))
        for child in self._ready:
            await self.reap(child)
        self._ready.clear()

    async def _start_zygote(self) -> None:
        zygote = await ZygoteProcess.start(
            self._launcher, self.zygote_set, self.isolation, self._on_child, self._on_unforked
        )
        self._zygotes.add(zygote)
        try:
            await zygote.up()
        except BaseException:
            zygote.kill()
            await asyncio.shield(zygote.close())
            self._zygotes.discard(zygote)
            raise
        self._zygote = zygote
        self._jobs = 0
        self._spawn(self._watch(zygote))
        self._stock()

    async def _watch(self, zygote: ZygoteProcess) -> None:
        """Waits until the zygote exits; one that was in use is replaced."""
        await asyncio.shield(zygote.lost)
        self._zygotes.discard(zygote)
        self._uids.extend(zygote.forking.values())
        zygote.forking.clear()
        if self._closing or self._zygote is not zygote:
            return
        self._zygote = None
        self.last_error = zygote.fault or "the zygote died"
        log.error("a zygote died", extra=facts(set=self.zygote_set, reason=self.last_error))
        # Not awaited: a child that does not die must not hold up the next zygote.
        self._spawn(self._drop_ready(lambda child: child in zygote.children.values()))
        for attempt in range(1_000_000):
            await asyncio.sleep(RESTART_SECONDS[min(attempt, len(RESTART_SECONDS) - 1)])
            try:
                await self._start_zygote()
            except (SandboxFault, OSError) as error:
                self.last_error = str(error)
                log.error("a zygote did not start", extra=facts(set=self.zygote_set, reason=str(error)))
                continue
            self._restarts += 1
            return

    async def _recycle(self, old: ZygoteProcess) -> None:
        """Starts a fresh zygote in the place of `old`, which is stopped after the last of its jobs."""
        try:
            await self._start_zygote()
        except (SandboxFault, OSError) as error:
            self.last_error = str(error)
            return
        self._recycled += 1
        await self._drop_ready(lambda child: child in old.children.values())
        while old.children:
            await asyncio.wait([asyncio.shield(child.status) for child in old.children.values()])
            await asyncio.sleep(0)
        await old.close()

    async def _drop_ready(self, which: Callable[[PooledChild], bool]) -> None:
        dropped = [child for child in self._ready if which(child)]
        self._ready = deque(child for child in self._ready if child not in dropped)
        await asyncio.gather(*(self.reap(child) for child in dropped))
        self._stock()

    def _stock(self) -> None:
        """Orders children until enough are ready or on their way."""
        zygote = self._zygote
        if zygote is None or self._closing or self._refork is not None:
            return
        hosts = len(zygote.hosts) + self._preparing[True]
        while hosts < len(self._waiting_for_hosts) and self._uids:
            zygote.fork(self._uids.popleft(), host=True)
            hosts += 1
        coming = len(zygote.forking) - len(zygote.hosts) + self._preparing[False]
        while len(self._ready) + coming < max(READY, len(self._waiting)) and self._uids:
            zygote.fork(self._uids.popleft())
            coming += 1

    def _on_unforked(self, zygote: ZygoteProcess, uid: int, reason: str) -> None:
        """A fork failed; the zygote keeps serving its other children, and forks again later."""
        self._uids.append(uid)
        self.last_error = f"a child could not be forked: {reason}"
        if self._unforked == 0:
            log.error("a child could not be forked", extra=facts(set=self.zygote_set, reason=reason))
        self._unforked += 1
        if self._unforked >= UNFORKED_IN_A_ROW_MAX and not zygote.children:
            self._unforked = 0
            zygote.fault = self.last_error
            zygote.kill()
        elif self._refork is None:
            self._refork = asyncio.get_running_loop().call_later(UNFORKED_SECONDS, self._fork_again)

    def _fork_again(self) -> None:
        self._refork = None
        self._stock()

    def _on_child(self, zygote: ZygoteProcess, child: PooledChild) -> None:
        self._unforked = 0
        self._preparing[child.is_host] += 1
        self._spawn(self._prepare(zygote, child))

    async def _prepare(self, zygote: ZygoteProcess, child: PooledChild) -> None:
        """Waits until a new child is confined, puts it into its group, and hands it to the next waiter."""
        try:
            try:
                async with asyncio.timeout(READY_SECONDS):
                    await child.listen()
                    first = await read_frame(await child.open(), READY_BYTES_MAX) or {}
                    if "ready" in first and self._groups:
                        child.group = await self._launcher.make_group(zygote.number, child.pidfd)
            except (TimeoutError, BadFrame, OSError) as error:
                first = {"fault": str(error) or "it took too long"}
        except BaseException:
            self._preparing[child.is_host] -= 1
            await asyncio.shield(self.reap(child))
            raise
        self._preparing[child.is_host] -= 1
        ready = first.get("ready")
        if ready is None or ready["uid"] != child.uid:
            await self._faulty(zygote, child, str(first.get("fault", "it exited")))
            return
        self._faults = 0
        child.layers = ready["layers"]
        waiting = self._waiting_for_hosts if child.is_host else self._waiting
        while waiting:
            waiter = waiting.popleft()
            if not waiter.done():
                waiter.set_result(child)
                self._stock()
                return
        if zygote is self._zygote and not self._closing and not child.is_host:
            self._ready.append(child)
        else:
            await self.reap(child)

    async def _faulty(self, zygote: ZygoteProcess, child: PooledChild, reason: str) -> None:
        await self.reap(child)
        if self._closing or zygote.lost.done():
            return
        self._faults += 1
        self.last_error = reason
        log.error("a child could not be confined", extra=facts(set=self.zygote_set, reason=reason))
        if self._faults >= FAULTS_IN_A_ROW_MAX:
            self._faults = 0
            zygote.fault = reason
            zygote.kill()
        else:
            self._stock()

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
