"""Decides which execution is next. Workers pace jobs: a full lane refuses jobs at once. Interactive requests wait for
their turn, team by team, and one slot is reserved for them. An execution that resumes after an answer goes before both,
since it holds memory while it waits.

Teams and users are opaque keys here.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from ..job import KEPT_SLOTS, SandboxBusy

USER_RUNS_MAX = 2
TEAM_RUNS_MAX = 4
WAITING_MAX = 64
"""Interactive requests that may wait; further ones are refused as busy."""
WAIT_SECONDS = 10.0
"""After this time an interactive user is better served by an error than by more waiting."""


@dataclass(frozen=True)
class Lane:
    """The lane of a request, and for whom it is executed."""

    name: Literal["jobs", "interactive"] = "jobs"
    user: str = ""
    team: str = ""


@dataclass(eq=False)
class _Waiter:
    lane: Lane
    turn: asyncio.Future[None]


class Lanes:
    """Counts executions against `job_slots` and the reserved slots. All methods belong to one event loop."""

    def __init__(self, job_slots: int, wait_seconds: float = WAIT_SECONDS) -> None:
        self.job_slots = job_slots
        self._wait_seconds = wait_seconds
        self._jobs = 0
        self._interactive = 0
        self._users: Counter[str] = Counter()
        self._teams: Counter[str] = Counter()
        # Teams in the order of their next turn; within a team first come, first served.
        self._waiting: OrderedDict[str, deque[_Waiter]] = OrderedDict()
        self._resuming: deque[_Waiter] = deque()
        """Executions of either lane that resume."""

    @property
    def jobs_running(self) -> int:
        """Executions of jobs that hold a slot."""
        return self._jobs

    @property
    def interactive_running(self) -> int:
        """Interactive executions that hold a slot."""
        return self._interactive

    @property
    def waiting(self) -> int:
        """Interactive requests that wait for a slot."""
        return sum(len(waiters) for waiters in self._waiting.values())

    @asynccontextmanager
    async def slot(self, lane: Lane, resumed: bool = False) -> AsyncIterator[None]:
        """Holds a slot. Raises SandboxBusy: for a new job at once; for an interactive request and a resumed execution
        after the wait, or at once when too many wait."""
        if resumed:
            await self._turn(lane, self._resuming)
        elif lane.name == "jobs":
            if self._resuming or not self._has_room(lane):
                raise SandboxBusy("every slot is taken")
            self._enter(lane)
        else:
            if self.waiting >= WAITING_MAX:
                raise SandboxBusy("too many requests wait already")
            await self._turn(lane, self._waiting.setdefault(lane.team, deque()))
        try:
            yield
        finally:
            self._leave(lane)

    def _has_room(self, lane: Lane) -> bool:
        return not self._full() and (lane.name != "jobs" or self._jobs < self.job_slots)

    def _full(self) -> bool:
        return self._jobs + self._interactive >= self.job_slots + KEPT_SLOTS

    async def _turn(self, lane: Lane, queue: deque[_Waiter]) -> None:
        waiter = _Waiter(lane, asyncio.get_running_loop().create_future())
        queue.append(waiter)
        self._admit()
        try:
            await asyncio.wait_for(asyncio.shield(waiter.turn), self._wait_seconds)
        except TimeoutError:
            # The turn may have come at the same moment; then it counts.
            if not waiter.turn.done():
                raise SandboxBusy("no slot became free in time") from None
        except asyncio.CancelledError:
            if waiter.turn.done():
                self._leave(lane)
            raise
        finally:
            self._forget(waiter)

    def _enter(self, lane: Lane) -> None:
        if lane.name == "jobs":
            self._jobs += 1
        else:
            self._interactive += 1
            self._users[lane.user] += 1
            self._teams[lane.team] += 1

    def _leave(self, lane: Lane) -> None:
        if lane.name == "jobs":
            self._jobs -= 1
        else:
            self._interactive -= 1
            for counter, key in ((self._users, lane.user), (self._teams, lane.team)):
                counter[key] -= 1
                if counter[key] == 0:
                    del counter[key]
        self._admit()

    def _admit(self) -> None:
        """Gives free slots to waiters: first to resumed executions, then to each team in turn, within a team to the
        first whose user is below the limit."""
        for waiter in list(self._resuming):
            if self._has_room(waiter.lane):
                self._resuming.remove(waiter)
                self._enter(waiter.lane)
                waiter.turn.set_result(None)
        progress = True
        while progress and not self._full():
            progress = False
            for team in list(self._waiting):
                if self._full():
                    return
                next_one = self._next_of(team)
                if next_one is None:
                    continue
                progress = True
                self._enter(next_one.lane)
                next_one.turn.set_result(None)
                self._forget(next_one)
                if team in self._waiting:
                    self._waiting.move_to_end(team)

    def _next_of(self, team: str) -> _Waiter | None:
        if self._teams[team] >= TEAM_RUNS_MAX:
            return None
        return next((waiter for waiter in self._waiting[team] if self._users[waiter.lane.user] < USER_RUNS_MAX), None)

    def _forget(self, waiter: _Waiter) -> None:
        if waiter in self._resuming:
            self._resuming.remove(waiter)
            return
        waiters = self._waiting.get(waiter.lane.team)
        if waiters is None or waiter not in waiters:
            return
        waiters.remove(waiter)
        if not waiters:
            del self._waiting[waiter.lane.team]
