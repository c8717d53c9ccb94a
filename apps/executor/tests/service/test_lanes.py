"""Who runs next: jobs next to interactive runs, users next to each other, teams in turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from qjs_executor.job import SandboxBusy
from qjs_executor.service import lanes as rules
from qjs_executor.service.lanes import Lane, Lanes, Slot
from qjs_executor.service.turns import next_turn

JOB = Lane()


def job(team: str) -> Lane:
    """A job of a team."""
    return Lane("jobs", "", team)


def person(user: str, team: str = "team") -> Lane:
    """An interactive run of a user."""
    return Lane("interactive", user, team)


class Runs:
    """Runs that hold their slot until they are released; `order` lists who got a slot, in turn."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.order: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def begin(self, name: str, lane: Lane, resumed: bool = False) -> asyncio.Task[None]:
        """Starts a run, or resumes one."""
        self._ends[name] = asyncio.Event()

        async def run() -> None:
            slot = Slot(self.lanes, lane)
            await slot.take(resumed)
            self.order.append(name)
            try:
                await self._ends[name].wait()
            finally:
                slot.leave()

        self._tasks[name] = asyncio.create_task(run())
        return self._tasks[name]

    async def end(self, name: str) -> None:
        """Ends a run that got in."""
        self._ends[name].set()
        await self._tasks[name]
        await settled()

    async def end_all(self) -> None:
        """Ends what is left, in the order in which it gets in."""
        while any(not task.done() for task in self._tasks.values()):
            for event in self._ends.values():
                event.set()
            await settled()


async def settled() -> None:
    """Lets every task that can continue do so."""
    for _ in range(10):
        await asyncio.sleep(0)


def in_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """Runs a test in an event loop of its own."""

    def run() -> None:
        asyncio.run(test())

    run.__name__ = test.__name__
    return run


@in_loop
async def test_jobs_fill_their_slots_and_are_then_refused_at_once() -> None:
    runs = Runs(Lanes(2))
    runs.begin("a", JOB)
    runs.begin("b", JOB)
    await settled()
    with pytest.raises(SandboxBusy):
        await runs.begin("c", JOB)
    await runs.end("a")
    runs.begin("d", JOB)
    await settled()
    assert runs.order == ["a", "b", "d"]
    await runs.end_all()
    assert runs.lanes.jobs_running == 0


@in_loop
async def test_a_slot_is_reserved_for_interactive_runs_when_jobs_hold_all_others() -> None:
    runs = Runs(Lanes(2))
    runs.begin("a", JOB)
    runs.begin("b", JOB)
    runs.begin("person", person("p"))
    await settled()
    assert runs.order == ["a", "b", "person"]
    await runs.end_all()


@in_loop
async def test_interactive_runs_may_use_idle_slots_of_jobs_which_then_wait() -> None:
    runs = Runs(Lanes(2))
    for name in ("x", "y", "z"):
        runs.begin(name, person(name, name))
    await settled()
    assert runs.order == ["x", "y", "z"]
    with pytest.raises(SandboxBusy):
        await runs.begin("job", JOB)
    await runs.end_all()


@in_loop
async def test_a_user_has_at_most_two_runs_at_once() -> None:
    runs = Runs(Lanes(8))
    for name in ("1", "2", "3"):
        runs.begin(name, person("one"))
    runs.begin("other", person("two"))
    await settled()
    assert runs.order == ["1", "2", "other"]
    await runs.end("1")
    assert runs.order == ["1", "2", "other", "3"]
    await runs.end_all()


@in_loop
async def test_a_team_has_at_most_four_runs_at_once() -> None:
    runs = Runs(Lanes(8))
    for number in range(6):
        runs.begin(str(number), person(f"user {number}"))
    await settled()
    assert len(runs.order) == rules.TEAM_RUNS_MAX
    await runs.end_all()
    assert len(runs.order) == 6


@in_loop
async def test_teams_take_turns_however_many_runs_one_of_them_sends() -> None:
    runs = Runs(Lanes(1))
    runs.begin("first", person("z", "z"))
    runs.begin("second", person("z2", "z"))
    await settled()
    for number in range(3):
        runs.begin(f"many {number}", person(f"m{number}", "many"))
    runs.begin("few", person("f", "few"))
    await settled()
    await runs.end("first")
    await runs.end("second")
    assert runs.order == ["first", "second", "many 0", "few"]
    await runs.end_all()


@in_loop
async def test_a_run_that_waits_too_long_is_refused_and_leaves_no_trace() -> None:
    runs = Runs(Lanes(1, wait_seconds=0.01))
    runs.begin("a", person("a"))
    runs.begin("b", person("b"))
    await settled()
    with pytest.raises(SandboxBusy):
        await runs.begin("c", person("c"))
    assert runs.lanes.waiting == 0
    await runs.end_all()
    assert runs.lanes.interactive_running == 0


@in_loop
async def test_the_queue_is_bounded() -> None:
    runs = Runs(Lanes(1))
    for number in range(rules.WAITING_MAX + 2):
        runs.begin(str(number), person(f"u{number}", f"t{number}"))
    await settled()
    assert runs.lanes.waiting == rules.WAITING_MAX
    with pytest.raises(SandboxBusy):
        await runs.begin("one more", person("more", "more"))
    await runs.end_all()


@in_loop
async def test_a_caller_that_hangs_up_while_it_waits_or_at_its_turn_returns_its_place() -> None:
    runs = Runs(Lanes(1))
    runs.begin("a", person("a"))
    runs.begin("b", person("b"))
    await settled()
    leaving = runs.begin("leaves", person("c"))
    at_turn = runs.begin("leaves at its turn", person("d"))
    await settled()
    leaving.cancel()
    await settled()
    runs._ends["a"].set()
    await asyncio.sleep(0)
    at_turn.cancel()
    await settled()
    runs.begin("next", person("e"))
    await settled()
    assert "next" in runs.order
    await runs.end_all()
    assert (runs.lanes.waiting, runs.lanes.interactive_running) == (0, 0)


@in_loop
async def test_resumed_runs_get_the_next_slot_before_new_jobs_and_interactive_ones() -> None:
    runs = Runs(Lanes(1))
    runs.begin("job", JOB)
    runs.begin("person", person("a"))
    await settled()
    runs.begin("waiting person", person("b"))
    runs.begin("goes on", JOB, resumed=True)
    runs.begin("goes on too", JOB, resumed=True)
    await settled()
    assert runs.order == ["job", "person"], "no slot beyond the lane's is given out"
    await runs.end("job")
    assert runs.order == ["job", "person", "goes on"]
    with pytest.raises(SandboxBusy):
        await runs.begin("new job", JOB)
    await runs.end("goes on")
    assert runs.order[3:] == ["goes on too"]
    await runs.end("person")
    assert runs.order[4:] == ["waiting person"]
    await runs.end_all()
    assert (runs.lanes.jobs_running, runs.lanes.interactive_running, runs.lanes.waiting) == (0, 0, 0)


@in_loop
async def test_interactive_runs_use_their_reserved_slot_while_a_job_waits_to_resume() -> None:
    runs = Runs(Lanes(1))
    runs.begin("job", JOB)
    runs.begin("goes on", JOB, resumed=True)
    runs.begin("person", person("a"))
    await settled()
    assert runs.order == ["job", "person"]
    await runs.end_all()


@in_loop
async def test_a_resumed_run_that_times_out_or_is_cancelled_returns_its_place() -> None:
    runs = Runs(Lanes(1, wait_seconds=0.01))
    runs.begin("job", JOB)
    await settled()
    with pytest.raises(SandboxBusy):
        await runs.begin("late", JOB, resumed=True)
    leaving = runs.begin("leaves", JOB, resumed=True)
    await settled()
    leaving.cancel()
    await settled()
    await runs.end("job")
    runs.begin("new job", JOB)
    await settled()
    assert runs.order == ["job", "new job"]
    await runs.end_all()
    assert runs.lanes.jobs_running == 0


@in_loop
async def test_jobs_of_teams_take_turns_however_many_one_of_them_sends() -> None:
    runs = Runs(Lanes(2))
    for number in range(6):
        runs.begin(f"many {number}", job("many"))
    await settled()
    runs.begin("few 0", job("few"))
    runs.begin("few 1", job("few"))
    runs.begin("other", job("other"))
    await settled()
    assert runs.order == ["many 0", "many 1"]
    await runs.end("many 0")
    assert runs.order[2:] == ["few 0"]
    await runs.end("many 1")
    assert runs.order[3:] == ["other"], "a team that runs nothing is next"
    await runs.end("few 0")
    await runs.end("other")
    assert runs.order[4:] == ["many 2", "few 1"], "of equals, the one that was served longest ago"
    await runs.end_all()
    assert (runs.lanes.jobs_running, runs.lanes.jobs_waiting) == (0, 0)


@in_loop
async def test_resumed_runs_of_teams_take_turns() -> None:
    runs = Runs(Lanes(1))
    runs.begin("many 0", job("many"))
    await settled()
    for number in range(1, 4):
        runs.begin(f"many {number}", job("many"), resumed=True)
    runs.begin("few", job("few"), resumed=True)
    runs.begin("new", job("new"))
    await settled()
    for name in ("many 0", "few"):
        await runs.end(name)
    assert runs.order == ["many 0", "few", "many 1"]
    await runs.end_all()
    assert runs.order[-1] == "new", "what resumes goes before new jobs"


@in_loop
async def test_one_team_cannot_fill_the_queue_of_jobs() -> None:
    runs = Runs(Lanes(1))
    for number in range(1 + rules.TEAM_JOBS_WAITING_MAX):
        runs.begin(f"many {number}", job("many"))
    await settled()
    with pytest.raises(SandboxBusy):
        await runs.begin("one more", job("many"))
    runs.begin("few", job("few"))
    await settled()
    assert runs.lanes.jobs_waiting == rules.TEAM_JOBS_WAITING_MAX + 1
    with pytest.raises(SandboxBusy):
        await runs.begin("without a team", JOB)
    await runs.end("many 0")
    assert runs.order == ["many 0", "few"]
    await runs.end_all()


@in_loop
async def test_many_teams_together_cannot_fill_the_queue_of_jobs_without_bound() -> None:
    runs = Runs(Lanes(1))
    for number in range(1 + rules.JOBS_WAITING_MAX):
        runs.begin(str(number), job(f"team {number}"))
    await settled()
    with pytest.raises(SandboxBusy):
        await runs.begin("one more", job("another"))
    assert runs.lanes.jobs_waiting == rules.JOBS_WAITING_MAX
    await runs.end_all()


@in_loop
async def test_a_team_that_runs_nothing_but_waits_keeps_the_time_of_its_last_turn() -> None:
    runs = Runs(Lanes(1))
    runs.begin("a 0", job("a"))
    await settled()
    for name, team in (("a 1", "a"), ("b", "b"), ("c", "c")):
        runs.begin(name, job(team))
    await settled()
    for name in ("a 0", "b", "c"):
        await runs.end(name)
    assert runs.order == ["a 0", "b", "c", "a 1"]
    await runs.end_all()


@in_loop
async def test_waiting_jobs_and_interactive_runs_each_keep_their_slots() -> None:
    runs = Runs(Lanes(1))
    runs.begin("job", job("a"))
    for number in range(3):
        runs.begin(f"person {number}", person(f"p{number}", f"t{number}"))
    runs.begin("next job", job("b"))
    await settled()
    assert runs.order == ["job", "person 0"]
    await runs.end("job")
    assert runs.order[2:] == ["next job"]
    await runs.end("person 0")
    assert runs.order[3:] == ["person 1"]
    await runs.end_all()


@pytest.mark.parametrize(
    ("waiting", "running", "served", "next_one"),
    [
        ([], {}, {}, None),
        (["a", "b"], {}, {}, 0),
        (["a", "a", "b"], {"a": 1}, {}, 2),
        (["a", "b"], {"a": 1, "b": 1}, {"a": 2, "b": 1}, 1),
        (["a", "b", "c"], {"a": 1, "b": 1, "c": 1}, {"a": 2, "b": 1}, 2),
        (["", "a"], {"": 2, "a": 1}, {"a": 9}, 1),
    ],
)
def test_the_owner_that_runs_the_fewest_is_next(
    waiting: list[str], running: dict[str, int], served: dict[str, int], next_one: int | None
) -> None:
    assert next_turn(waiting, running, served) == next_one
