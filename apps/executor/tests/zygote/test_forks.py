"""The short form of `scripts/fork-test`."""

from __future__ import annotations

import pytest

from ..support.executor import Executor
from ..support.fork_test import KINDS, try_kind


@pytest.mark.parametrize("kind", KINDS)
def test_every_child_of_a_zygote_answers_and_draws_samples_of_its_own(executor: Executor, kind: str) -> None:
    found = try_kind(executor, kind, 10, 2)
    assert (found.ok, found.faults) == (10, [])
    assert found.distinct >= 5, "ten draws of 4096 shots are seldom alike"
    assert found.seeded in (None, 1)
