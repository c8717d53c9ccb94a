"""Places that are short are shared by owner."""

from __future__ import annotations

import asyncio
import random
from types import SimpleNamespace
from typing import Any

import pytest

from qjs_executor.sandbox.fair_places import place_to_free
from qjs_executor.sandbox.task_hosts import TaskHosts


@pytest.mark.parametrize(
    ("owners", "held", "newcomer", "freed"),
    [
        ("aaaa", "", "b", 0),
        ("abaa", "", "b", 0),
        ("baaa", "", "b", 1),
        ("abab", "", "a", 0),
        ("aabb", "", "b", 2),
        ("aaabb", "", "b", 3),
        ("abcd", "", "e", 0),
        ("abcd", "", "c", 2),
        ("baaa", "a", "c", 0),
        ("aaab", "b", "c", 0),
        ("aabb", "ab", "c", None),
        ("aabb", "b", "b", None),
        ("aaaabb", "b", "b", 0),
        ("", "", "a", None),
    ],
)
def test_the_owner_with_the_most_gives_up_its_oldest_place(
    owners: str, held: str, newcomer: str, freed: int | None
) -> None:
    assert place_to_free(owners, [owner not in held for owner in owners], newcomer) == freed


def test_places_become_even_and_stay_so_whichever_owner_comes() -> None:
    draw = random.Random(7)
    places = ["heavy"] * 8
    for _ in range(200):
        newcomer = draw.choice(["heavy"] * 5 + ["a", "b"])
        at = place_to_free(places, [True] * len(places), newcomer)
        assert at is not None
        places = [*places[:at], *places[at + 1 :], newcomer]
    assert sorted(places.count(owner) for owner in ("heavy", "a", "b")) == [2, 3, 3]
    for newcomer in ("heavy", "a", "b"):
        at = place_to_free(places, [True] * len(places), newcomer)
        assert at is not None
        assert places[at] == newcomer, "no owner is driven out of an even share"


def test_a_team_with_many_task_hosts_gives_up_its_own() -> None:
    async def play() -> None:
        ended: list[Any] = []

        async def free(_host: object) -> bool:
            return True

        def host() -> Any:
            return SimpleNamespace(child=SimpleNamespace(ended=asyncio.get_running_loop().create_future()))

        hosts = TaskHosts(ended.append, free, places=4)
        few, many = host(), [host() for _ in range(6)]
        hosts.keep(("few", "job"), few)
        for number, one in enumerate(many):
            hosts.keep(("many", f"job {number}"), one)
        assert ended == many[:3]
        assert await hosts.take(("few", "job")) is few
        hosts.close()

    asyncio.run(play())
