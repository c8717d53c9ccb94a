"""Slots that are reserved before a body is sent: in turn, for a while, and by one request each."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from qjs_executor.service.lanes import Lane, Lanes, Slot
from qjs_executor.service.reservations import Reservations

from ..support.asking import ANSWER, ASKING, ONCE, begin, marqov
from ..support.executor import BELL, Executor, eventually, qasm
from ..support.processes import LOOP, hold

TEAM = {"keys": {"team": "ours"}}
JOB = Lane("jobs", "", "ours")


@pytest.fixture(scope="module")
def single() -> Iterator[Executor]:
    """An executor with one slot."""
    started = Executor(EXECUTOR_SLOTS="1")
    yield started
    started.close()


def reserve(executor: Executor, team: str = "ours", **more: Any) -> Any:
    """The response to a reservation that does not wait."""
    body = {"keys": {"team": team}, "engine": "statevector", "wait_seconds": 0, **more}
    return executor.http.post("/reservations", json=body)


def reserved(executor: Executor, **more: Any) -> str:
    """The id of a reservation."""
    answer = reserve(executor, **more)
    assert answer.status_code == 200, answer.text
    found: str = answer.json()["id"]
    return found


def run_with(executor: Executor, reservation: str, **fields: Any) -> Any:
    """The response to a run that names a reservation."""
    body = executor.request(qasm(BELL), **{**TEAM, **fields})
    return executor.http.post("/run", json=body, headers={"x-reservation": reservation})


def release(executor: Executor, reservation: str) -> None:
    """Frees a reservation."""
    assert executor.http.delete(f"/reservations/{reservation}").status_code == 204


def test_a_reserved_slot_is_taken_for_all_but_the_request_that_names_it(single: Executor) -> None:
    first = reserved(single)
    assert (reserve(single).status_code, reserve(single).json()["error"]["code"]) == (503, "busy")
    assert single.http.post("/run", json=single.request(qasm(BELL))).status_code == 503
    assert run_with(single, first).status_code == 200
    assert single.health()["slots"]["running"] == 0
    # It is used up: the request is served in its turn, like one without a reservation.
    assert run_with(single, first).status_code == 200


def test_a_reservation_that_is_not_needed_is_given_back(single: Executor) -> None:
    release(single, reserved(single))
    release(single, reserved(single))
    release(single, "unknown")
    assert single.health()["slots"]["running"] == 0


def named(executor: Executor, name: str) -> Any:
    """The response to a reservation whose id the caller chooses."""
    body = {"keys": {"team": "ours"}, "wait_seconds": 0}
    return executor.http.post("/reservations", json=body, headers={"x-reservation": name})


def test_a_caller_that_names_its_reservation_can_give_it_up_before_it_knows_of_the_grant(single: Executor) -> None:
    first, second = "given-up-after-its-grant", "given-up-before-its-grant"
    assert named(single, first).json()["id"] == first
    release(single, first)
    release(single, second)
    answer = named(single, second)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "busy")
    # Neither keeps the only slot.
    assert single.health()["slots"]["running"] == 0
    release(single, reserved(single))


def test_a_name_that_is_taken_or_no_name_is_refused(single: Executor) -> None:
    name = "the-name-of-a-reservation"
    assert named(single, name).status_code == 200
    for wrong in (name, "short", "x" * 65, "sixteen letters, spaces"):
        answer = named(single, wrong)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "validation_error")
    release(single, name)


@pytest.mark.parametrize(
    ("fields", "status"),
    [({"keys": {"team": "theirs"}}, 400), ({"params": {"shots": 0}}, 400), ({"engine": "none"}, 400)],
)
def test_a_request_that_cannot_run_frees_the_slot_of_its_reservation(
    single: Executor, fields: dict[str, Any], status: int
) -> None:
    assert run_with(single, reserved(single), **fields).status_code == status
    assert single.health()["slots"]["running"] == 0


def test_teams_take_turns_at_the_next_free_slot(single: Executor) -> None:
    # A run holds the slot: a reservation ends by itself after ten seconds.
    end = hold(single, LOOP, keys={"team": "many"})
    order: list[str] = []

    def wait(team: str) -> None:
        # One that has waited for ten seconds is refused.
        while (answer := reserve(single, team=team, wait_seconds=10)).status_code == 503:
            pass
        order.append(team)
        release(single, answer.json()["id"])

    with ThreadPoolExecutor(3) as pool:
        waiters: list[Future[None]] = []
        for waiting, team in enumerate(("many", "many", "few"), start=1):
            waiters.append(pool.submit(wait, team))
            eventually(
                lambda waiting=waiting: single.health()["lanes"]["jobs"]["waiting"] == waiting,  # type: ignore[misc]
                60,
                "it waits",
            )
        end()
        for waiter in waiters:
            waiter.result(60)
    assert order[0] == "few"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keys": {}}, "keys.team"),
        ({"lane": "interactive"}, "in the lane of jobs"),
        ({"wait_seconds": 11}, "wait_seconds"),
        ({"resume": ""}, "resume"),
        ({"engine": 7}, "engine"),
    ],
)
def test_a_wrong_reservation_is_refused_by_the_name_of_its_part(
    single: Executor, change: dict[str, Any], message: str
) -> None:
    answer = reserve(single, **change)
    assert answer.status_code == 400
    assert message in answer.json()["error"]["message"]
    assert reserve(single, engine="gpu_statevector").json()["error"]["code"] == "engine_missing"
    assert single.http.post("/reservations", content=b" " * 5000).status_code == 413
    assert single.health()["slots"]["running"] == 0


def test_a_run_that_waits_for_an_answer_is_resumed_with_its_reservation(start: Callable[..., Executor]) -> None:
    executor = start(EXECUTOR_SLOTS="1")
    assert begin(executor, ONCE, "waits").outcome["parked"] is True
    reservation = reserved(executor, resume="waits")
    again = {"resume": {"run_id": "waits"}, "answers": [ANSWER]}
    body = executor.request(marqov(ONCE), run_id="waits", **{**ASKING, **TEAM, **again})
    resumed = executor.http.post("/run", json=body, headers={"x-reservation": reservation})
    assert "heard" in json.loads(resumed.text.splitlines()[-1])["outcome"]["error"]["message"]
    # Its place is free, and a run that is gone is a new one.
    release(executor, reserved(executor, resume="waits"))


def test_a_resumed_run_reserves_before_new_ones() -> None:
    async def scene() -> list[str]:
        lanes = Lanes(1)
        first = Slot(lanes, JOB)
        await first.take(reserves=0)
        order: list[str] = []

        async def wait(name: str, resumed: bool) -> None:
            slot = Slot(lanes, JOB)
            await slot.take(resumed, reserves=10)
            order.append(name)
            slot.leave()

        waiting = [asyncio.create_task(wait("new", False)), asyncio.create_task(wait("resumed", True))]
        await asyncio.sleep(0)
        first.leave()
        await asyncio.gather(*waiting)
        return order

    assert asyncio.run(scene()) == ["resumed", "new"]


def test_a_reservation_ends_by_itself() -> None:
    async def scene() -> None:
        lanes = Lanes(1)
        reservations = Reservations(lanes, held_seconds=0.01)
        slot = Slot(lanes, JOB)
        await slot.take(reserves=0)
        assert reservations.hold(slot, "a-name-of-its-own")
        named = {"headers": [(b"x-reservation", b"a-name-of-its-own")]}
        assert lanes.jobs_running == 1
        await asyncio.wait_for(Slot(lanes, Lane("jobs", "", "theirs")).take(reserves=10), 10)
        assert reservations.claim(named) is None

    asyncio.run(scene())
