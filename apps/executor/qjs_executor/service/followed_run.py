"""Sends a caller what its run prints while it runs, at a bounded rate, with a beat in between."""

from __future__ import annotations

import asyncio
from typing import Any

from ..printed_text import PrintedText
from .lines import Lines

BEAT_SECONDS = 5.0
"""A caller can treat a stream as dead when no line arrives for several beats."""
PIECE_SECONDS = 0.2
"""The least time between two pieces of text: what is printed in between is sent together."""
PIECES_AT_ONCE = 50
"""After this many pieces at that rate, a run sends one each second: every piece becomes a row of a database."""


class Pace:
    """When a run may send its next piece; times are in seconds of any clock. Pauses earn one piece a second."""

    def __init__(self, now: float) -> None:
        self._left = float(PIECES_AT_ONCE)
        self._at = now
        self.next = now
        """The earliest time of the next piece."""

    def sent(self, now: float) -> None:
        """Counts a piece."""
        self._left = min(PIECES_AT_ONCE, self._left + now - self._at) - 1
        self._at = now
        self.next = now + max(PIECE_SECONDS, 1 - self._left)


async def follow(run: asyncio.Task[Any], printed: PrintedText, lines: Lines) -> None:
    """Sends what is printed until the run has ended; its end, an error included, is the caller's to read."""
    clock = asyncio.get_running_loop().time
    pace = Pace(clock())
    beat_at = clock() + BEAT_SECONDS
    while not run.done():
        waiting = printed.news.done()
        until = min(beat_at, pace.next) if waiting else beat_at
        ends: list[asyncio.Future[Any]] = [run] if waiting else [run, printed.news]
        await asyncio.wait(ends, timeout=max(0.0, until - clock()), return_when=asyncio.FIRST_COMPLETED)
        if not run.done() and printed.news.done() and clock() >= pace.next:
            await _send(printed.take(), lines)
            pace.sent(clock())
        if not run.done() and clock() >= beat_at:
            await lines.line({"beat": {}})
            beat_at = clock() + BEAT_SECONDS
    await _send(printed.take(last=True), lines)


async def _send(piece: dict[str, Any] | None, lines: Lines) -> None:
    if piece is not None:
        await lines.line({"output": piece})
