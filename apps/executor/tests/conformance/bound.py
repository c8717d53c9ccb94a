"""Whether counts can come from exact probabilities: an exact test, so rare false alarms have a known rate."""

from __future__ import annotations

from scipy.stats import binom

FALSE_ALARM = 1e-6
"""Chance that any of the suite's comparisons fails without a fault; seeds are fixed, so it fails always or never."""
COMPARISONS_MAX = 10_000
"""The suite compares fewer counts with probabilities than this."""
IMPOSSIBLE = 1e-12


def disagreement(counts: dict[str, int], chances: dict[str, float], shots: int) -> str | None:
    """What is wrong with counts, or None. The count of each bit string is binomial; each of K strings may stray so far
    as happens with a chance of FALSE_ALARM / COMPARISONS_MAX / K."""
    if sum(counts.values()) != shots:
        return f"{sum(counts.values())} counts for {shots} shots"
    total = sum(chances.values())
    if abs(total - 1) > 1e-9:
        return f"the probabilities add up to {total}"
    keys = set(counts) | set(chances)
    least = FALSE_ALARM / COMPARISONS_MAX / len(keys)
    for key in sorted(keys):
        count, chance = counts.get(key, 0), chances.get(key, 0.0)
        if chance < IMPOSSIBLE:
            if count:
                return f"'{key}' was counted {count} times and is impossible"
            continue
        tail = min(
            float(binom.cdf(count, shots, min(chance, 1.0))), float(binom.sf(count - 1, shots, min(chance, 1.0)))
        )
        if 2 * tail < least:
            return f"'{key}' was counted {count} times of {shots}, its probability is {chance:.6f}"
    return None
