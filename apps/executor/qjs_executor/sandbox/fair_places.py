"""Decides which place becomes free when all are taken, so that no owner keeps the places that others need. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def place_to_free(owners: Sequence[str], free: Sequence[bool], newcomer: str) -> int | None:
    """Which of the places a newcomer takes. `owners` has the owner of each, the oldest first; `free`: whether it can be
    taken away. The newcomer takes the oldest place of the owner with the most, unless that owner would then have fewer
    than it, in which case it takes its own oldest. None: nothing can be taken."""
    places = Counter(owners)
    able = Counter(owner for owner, can in zip(owners, free, strict=True) if can)
    heaviest = max(able, key=lambda owner: (places[owner], -owners.index(owner)), default=None)
    if heaviest is None:
        return None
    own = places[newcomer]
    victim = heaviest if own == 0 or places[heaviest] > own + 1 else newcomer
    return next((at for at, owner in enumerate(owners) if owner == victim and free[at]), None)
