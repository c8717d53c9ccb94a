"""Decides whose turn it is. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def next_turn(waiting: Sequence[str], running: Mapping[str, int], served: Mapping[str, int]) -> int | None:
    """Which of the waiting is next: the first of the owner that runs the fewest, and among those that run as many, of
    the one that was served longest ago. `waiting` has the owner of each, in the order of arrival; `served` is when each
    owner last had a turn, as a count of turns."""
    if not waiting:
        return None
    return min(
        range(len(waiting)), key=lambda at: (running.get(waiting[at], 0), served.get(waiting[at], 0), at), default=None
    )
