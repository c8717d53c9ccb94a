"""When sampled and exact distributions agree: by a bound on each outcome, which a right implementation misses once in
some million comparisons."""

from __future__ import annotations

import math
from collections.abc import Mapping

SIGMAS = 5.2


def assert_sampled(counts: Mapping[str, int], probabilities: Mapping[str, float]) -> None:
    """Each outcome as often as its probability says, and none that is impossible."""
    shots = sum(counts.values())
    for key in {*counts, *probabilities}:
        expected = probabilities.get(key, 0.0)
        count = counts.get(key, 0)
        if expected < 1e-12:
            assert count == 0, (key, counts)
        else:
            spread = math.sqrt(max(expected * (1 - expected), 0.0) * shots)
            assert abs(count - expected * shots) <= SIGMAS * spread + 1, (key, count, expected * shots)
