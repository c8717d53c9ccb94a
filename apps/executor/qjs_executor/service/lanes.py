"""Decides which execution is next. Jobs and interactive requests wait for their turn, team by team, and one slot is
reserved for interactive ones. An execution that resumes after an answer goes before both, since it holds memory while
it waits; these too take turns by team. A job whose caller names no team is refused at once when its lane is full.

Teams and users are opaque keys here.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass
from typing import Literal

from ..job import KEPT_SLOTS, SandboxBusy
from .turns import next_turn

USER_RUNS_MAX = 2
TEAM_RUNS_MAX = 4
WAITING_MAX = 64
"""Interactive requests that may wait; further ones are refused as busy."""
TEAM_JOBS_WAITING_MAX = 16
JOBS_WAITING_MAX = 64
"""Jobs that may wait; a worker tries a refused one again."""
RESERVATIONS_WAITING_MAX = 1024
"""Reservations that may wait: no body waits with them."""
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
        self._queued: list[_Waiter] = []
        """Jobs, in the order of arrival."""
        self._resuming: list[_Waiter] = []
        """Executions of either lane that resume, in the order of arrival."""
        self._job_teams: Counter[str] = Counter()
        self._served: dict[str, int] = {}
        """When each team that has something here last got a slot for a job or to resume, as a count of such turns."""
        self._turns = 0

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

    @property
    def jobs_waiting(self) -> int:
        """Jobs that wait for a slot."""
        return len(self._queued)

    async def take(self, lane: Lane, resumed: bool = False, reserves: float | None = None) -> None:
        """Takes a slot, until `leave`. Raises SandboxBusy after the wait, or at once when too many wait, and for a job
        without a team. `reserves`: no body waits with it; how many seconds it waits at most."""
        if reserves is not None and len(self._queued) >= RESERVATIONS_WAITING_MAX:
            raise SandboxBusy("too many jobs wait already")
        if resumed:
            await self._turn(lane, self._resuming, reserves)
        elif reserves is not None:
            await self._turn(lane, self._queued, reserves)
        elif lane.name == "jobs" and not lane.team:
            if self._resuming or self._queued or not self._has_room(lane):
                raise SandboxBusy("every slot is taken")
            self._enter(lane)
        elif lane.name == "jobs":
            mine = sum(waiter.lane.team == lane.team for waiter in self._queued)
            if mine >= TEAM_JOBS_WAITING_MAX or len(self._queued) >= JOBS_WAITING_MAX:
                raise SandboxBusy("too many jobs wait already")
            await self._turn(lane, self._queued)
        else:
            if self.waiting >= WAITING_MAX:
                raise SandboxBusy("too many requests wait already")
            await self._turn(lane, self._waiting.setdefault(lane.team, deque()))

    def _has_room(self, lane: Lane) -> bool:
        return not self._full() and (lane.name != "jobs" or self._jobs < self.job_slots)

    def _full(self) -> bool:
        return self._jobs + self._interactive >= self.job_slots + KEPT_SLOTS

    async def _turn(self, lane: Lane, queue: list[_Waiter] | deque[_Waiter], seconds: float | None = None) -> None:
        waiter = _Waiter(lane, asyncio.get_running_loop().create_future())
        queue.append(waiter)
        self._admit()
        try:
            await asyncio.wait_for(asyncio.shield(waiter.turn), self._wait_seconds if seconds is None else seconds)
        except TimeoutError:
            # The turn may have come at the same moment; then it counts.
            if not waiter.turn.done():
                raise SandboxBusy("no slot became free in time") from None
        except asyncio.CancelledError:
            if waiter.turn.done():
                self.leave(lane)
            raise
        finally:
            self._forget(waiter)

    def _enter(self, lane: Lane) -> None:
        if lane.name == "jobs":
            self._jobs += 1
            self._job_teams[lane.team] += 1
        else:
            self._interactive += 1
            self._users[lane.user] += 1
            self._teams[lane.team] += 1

    def leave(self, lane: Lane) -> None:
        """Gives back a slot that was taken."""
        if lane.name == "jobs":
            self._jobs -= 1
            _decrement(self._job_teams, lane.team)
        else:
            self._interactive -= 1
            _decrement(self._users, lane.user)
            _decrement(self._teams, lane.team)
        self._admit()

    def _admit(self) -> None:
        """Gives free slots to waiters: first to resumed executions, then to interactive requests as far as slots are
        reserved for them, then to jobs, and what is left to interactive requests."""
        while self._admit_one(self._resuming):
            pass
        self._admit_interactive(KEPT_SLOTS)
        # A resumed execution that found no room goes before new jobs.
        while not any(waiter.lane.name == "jobs" for waiter in self._resuming) and self._admit_one(self._queued):
            pass
        self._admit_interactive(self.job_slots + KEPT_SLOTS)
        if not self._queued and not self._resuming:
            self._served = {team: turn for team, turn in self._served.items() if team in self._job_teams}

    def _admit_one(self, queue: list[_Waiter]) -> bool:
        """Gives a slot to the next of a queue that finds one free."""
        able = [waiter for waiter in queue if self._has_room(waiter.lane)]
        at = next_turn([waiter.lane.team for waiter in able], self._job_teams, self._served)
        if at is None:
            return False
        waiter = able[at]
        queue.remove(waiter)
        self._turns += 1
        self._served[waiter.lane.team] = self._turns
        self._enter(waiter.lane)
        waiter.turn.set_result(None)
        return True

    def _admit_interactive(self, most: int) -> None:
        """Gives free slots to interactive requests until `most` of them run: to each team in turn, within a team to the
        first whose user is below the limit."""
        progress = True
        while progress:
            progress = False
            for team in list(self._waiting):
                if self._full() or self._interactive >= most:
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
        for queue in (self._resuming, self._queued):
            if waiter in queue:
                queue.remove(waiter)
                return
        waiters = self._waiting.get(waiter.lane.team)
        if waiters is None or waiter not in waiters:
            return
        waiters.remove(waiter)
        if not waiters:
            del self._waiting[waiter.lane.team]


class Slot:
    """The slot of one execution: taken in its turn, and given back once."""

    def __init__(self, lanes: Lanes, lane: Lane) -> None:
        self.lane = lane
        self._lanes = lanes
        self._held = False

    async def take(self, resumed: bool = False, reserves: float | None = None) -> None:
        """As `Lanes.take`, unless the slot is taken already."""
        if not self._held:
            await self._lanes.take(self.lane, resumed, reserves)
            self._held = True

    def leave(self) -> None:
        """Gives the slot back, if it is taken."""
        if self._held:
            self._held = False
            self._lanes.leave(self.lane)


def _decrement(counter: Counter[str], key: str) -> None:
    counter[key] -= 1
    if counter[key] == 0:
        del counter[key]
