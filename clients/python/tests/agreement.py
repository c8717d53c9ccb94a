"""When sampled and exact distributions agree: by an exact bound on each outcome, which a right implementation misses
once in a hundred million comparisons."""

from __future__ import annotations

import math
from collections.abc import Mapping

FALSE_ALARM = 1e-8


def assert_sampled(counts: Mapping[str, int], probabilities: Mapping[str, float]) -> None:
    """Each outcome as often as its probability says, and none that is impossible."""
    shots = sum(counts.values())
    for key in {*counts, *probabilities}:
        expected = min(float(probabilities.get(key, 0.0)), 1.0)
        count = int(counts.get(key, 0))
        if expected < 1e-12:
            assert count == 0, (key, counts)
        elif expected > 1 - 1e-12:
            assert count == shots, (key, counts)
        else:
            assert 2 * _tail(count, shots, expected) > FALSE_ALARM, (key, count, expected * shots)


def _tail(count: int, shots: int, chance: float) -> float:
    """How likely a count is that strays as far, in its own direction: a normal bound is wrong for a rare outcome."""
    further = range(count, shots + 1) if count > shots * chance else range(count + 1)
    whole = math.lgamma(shots + 1)
    return math.fsum(
        math.exp(
            whole
            - math.lgamma(one + 1)
            - math.lgamma(shots - one + 1)
            + one * math.log(chance)
            + (shots - one) * math.log1p(-chance)
        )
        for one in further
    )
