"""Executions that wait for an answer: each is stopped and holds no slot, but stays in its child with all of its memory.

An execution stays parked until its caller returns with the answer, its time is over, a later execution needs its place,
or it exits. A caller that returns too late repeats the script with the answers; so parking only saves time, and no work
depends on it.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ..job import PARKED_BYTES_MAX, PARKED_MAX, PARKED_SECONDS, Job, NotParked, SandboxFault
from .live_execution import LiveExecution

LOOK_SECONDS = 1.0
"""How often a parked execution is checked: one that was woken, by a timer of its own for instance, is killed."""


@dataclass(eq=False)
class _Place:
    job: Job
    run: LiveExecution
    until: float
    memory_bytes: int
    """It is stopped, so this does not change."""
    held: bool = False
    keeper: asyncio.Task[None] | None = None


@dataclass
class Parking:
    """The places of one sandbox, by run id. `end` kills an execution that has lost its place; `seconds` is how long it
    may keep one."""

    end: Callable[[LiveExecution], object]
    places: int = PARKED_MAX
    seconds: float = PARKED_SECONDS
    memory_bytes: int = PARKED_BYTES_MAX
    """What all of them may hold together."""
    left: Counter[str] = field(default_factory=Counter)
    """How many have left their place, by reason."""
    _parked: dict[str, _Place] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._parked)

    def park(self, job: Job, run: LiveExecution) -> bool:
        """Parks a stopped execution, if necessary in the place of the oldest ones; returns False when callers that are
        about to resume hold the places, and for an execution that holds too much memory to wait."""
        if job.run_id in self._parked:
            self._leave(job.run_id, "displaced")
        held = run.child.memory_bytes()
        if held > self.memory_bytes:
            return False
        while len(self._parked) >= self.places or self._held_bytes() + held > self.memory_bytes:
            oldest = next((run_id for run_id, place in self._parked.items() if not place.held), None)
            if oldest is None:
                return False
            self._leave(oldest, "displaced")
        place = _Place(job, run, time.monotonic() + self.seconds, held)
        self._parked[job.run_id] = place
        place.keeper = asyncio.create_task(self._keep(job.run_id, place))
        return True

    @contextlib.contextmanager
    def hold(self, run_id: str) -> Iterator[Job]:
        """See `Sandbox`."""
        place = self._parked.get(run_id)
        if place is None or place.held:
            raise NotParked(f"no run '{run_id}' waits here for an answer")
        place.held = True
        try:
            yield place.job
        finally:
            place.held = False

    def take(self, run_id: str) -> LiveExecution:
        """Unparks the execution. Raises NotParked when it has exited in the meantime."""
        place = self._parked.get(run_id)
        if place is None:
            raise NotParked(f"the run '{run_id}' finished while it waited for its turn")
        self._forget(run_id, "resumed")
        return place.run

    def peek(self, run_id: str) -> LiveExecution | None:
        """The execution in its place."""
        place = self._parked.get(run_id)
        return place.run if place else None

    def close(self) -> None:
        """Kills all parked executions."""
        for run_id in list(self._parked):
            self._leave(run_id, "displaced")

    async def _keep(self, run_id: str, place: _Place) -> None:
        """Keeps an execution stopped until its time is over."""
        child = place.run.child
        while True:
            due = LOOK_SECONDS if place.held else min(LOOK_SECONDS, max(0.0, place.until - time.monotonic()))
            await asyncio.wait([child.ended], timeout=due)
            if child.ended.done():
                return self._leave(run_id, "died")
            if time.monotonic() >= place.until and not place.held:
                return self._leave(run_id, "expired")
            try:
                woken = await child.running() > 0
            except SandboxFault:
                woken = True
            if woken:
                return self._leave(run_id, "died")

    def _held_bytes(self) -> int:
        return sum(place.memory_bytes for place in self._parked.values())

    def _leave(self, run_id: str, why: str) -> None:
        self.end(self._forget(run_id, why))

    def _forget(self, run_id: str, why: str) -> LiveExecution:
        place = self._parked.pop(run_id)
        self.left[why] += 1
        if place.keeper is not None and place.keeper is not asyncio.current_task():
            place.keeper.cancel()
        return place.run
