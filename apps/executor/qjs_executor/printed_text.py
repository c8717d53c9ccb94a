"""What an execution prints, as text that its caller can follow: the beginning of it, in pieces, and a count of the
rest."""

from __future__ import annotations

import asyncio
import codecs
from typing import Any

TEXT_BYTES_MAX = 64 * 1024
"""How much text of one execution is passed on, in UTF-8."""


def plain(value: str) -> str:
    """The text without characters that a database or a UTF-8 stream cannot hold (NUL, lone surrogates)."""
    return value.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


class PrintedText:
    """Collects the standard output of an execution, over all of its children. Bytes that are not UTF-8 are replaced,
    and an incomplete character waits for its other bytes, so the text is the beginning of the outcome's `stdout`.
    `news` is done when there is a piece to take."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._taken = 0
        """Bytes of the text that was taken."""
        self._waiting = b""
        self._dropped = 0
        self._reported = 0
        self.news: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def add(self, data: bytes) -> None:
        """Takes what a child has printed."""
        if self._dropped:
            self._dropped += len(data)
        else:
            self._append(self._decoder.decode(data))

    def end_of_child(self) -> None:
        """The child prints no more: a character that it left incomplete is replaced."""
        if not self._dropped:
            self._append(self._decoder.decode(b"", final=True))
        self._decoder.reset()

    def continue_from(self, earlier: PrintedText) -> None:
        """Continues the text of an execution that has waited for an answer."""
        self._decoder = earlier._decoder
        self._taken, self._waiting = earlier._taken, earlier._waiting
        self._dropped, self._reported = earlier._dropped, earlier._reported
        if self._waiting:
            self._notify()

    def take(self, last: bool = False) -> dict[str, Any] | None:
        """The text since the previous piece, with its place in bytes from the start; None when there is nothing new.
        `truncated_bytes` counts what was printed after the last text, so far: it is in the first piece after the cut,
        and in the `last` one."""
        self.news = asyncio.get_running_loop().create_future()
        cut = self._dropped > self._reported and (last or self._reported == 0)
        if not self._waiting and not cut:
            return None
        piece: dict[str, Any] = {"offset": self._taken, "text": self._waiting.decode("utf-8")}
        if cut:
            piece["truncated_bytes"] = self._reported = self._dropped
        self._taken += len(self._waiting)
        self._waiting = b""
        return piece

    def _append(self, text: str) -> None:
        data = plain(text).encode("utf-8")
        if not data:
            return
        room = TEXT_BYTES_MAX - self._taken - len(self._waiting)
        # Cut at a character.
        kept = data if len(data) <= room else data[:room].decode("utf-8", "ignore").encode("utf-8")
        self._waiting += kept
        self._dropped += len(data) - len(kept)
        self._notify()

    def _notify(self) -> None:
        if not self.news.done():
            self.news.set_result(None)
