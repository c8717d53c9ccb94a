"""The text of what an execution prints: complete characters only, its beginning, and a count of the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qjs_executor.printed_text import TEXT_BYTES_MAX, PrintedText, plain
from qjs_executor.service.followed_run import PIECES_AT_ONCE, Pace

from .support.lanes import examples


def with_printed(work: Callable[[PrintedText], Any]) -> Any:
    """Runs `work` where an event loop runs."""

    async def run() -> Any:
        return work(PrintedText())

    return asyncio.run(run())


def pieces_of(printed: PrintedText, *parts: bytes) -> list[dict[str, Any]]:
    """The pieces when each part is taken as soon as it is printed, and those of the end."""
    taken = []
    for part in parts:
        printed.add(part)
        taken.append(printed.take())
    printed.end_of_child()
    return [piece for piece in [*taken, printed.take(last=True)] if piece is not None]


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=9), st.text(max_size=5).map(lambda text: text.encode()))))
def test_the_pieces_together_are_the_text_of_all_bytes_whatever_is_printed(parts: list[bytes]) -> None:
    pieces = with_printed(lambda printed: pieces_of(printed, *parts))
    text = "".join(piece["text"] for piece in pieces)
    assert text == plain(b"".join(parts).decode("utf-8", "replace"))
    assert "\0" not in text
    at = 0
    for piece in pieces:
        assert piece["offset"] == at and piece["text"] and "truncated_bytes" not in piece
        at += len(piece["text"].encode("utf-8"))


def test_a_character_waits_for_its_last_byte() -> None:
    pieces = with_printed(lambda printed: pieces_of(printed, b"a\xe2\x82", b"\xac", b"\xe2"))
    assert pieces == [
        {"offset": 0, "text": "a"},
        {"offset": 1, "text": "€"},
        {"offset": 4, "text": "\ufffd"},
    ]


def test_what_exceeds_the_limit_is_counted_at_the_cut_and_at_the_end() -> None:
    pieces = with_printed(
        lambda printed: pieces_of(printed, b"x" * (TEXT_BYTES_MAX - 1) + "€".encode(), b"y" * 10, b"z" * 7)
    )
    assert [len(piece["text"]) for piece in pieces] == [TEXT_BYTES_MAX - 1, 0]
    assert [piece["truncated_bytes"] for piece in pieces] == [3, 20]
    assert [piece["offset"] for piece in pieces] == [0, TEXT_BYTES_MAX - 1]


def test_an_execution_that_has_waited_continues_its_text_in_the_middle_of_a_character() -> None:
    def work(printed: PrintedText) -> list[dict[str, Any] | None]:
        printed.add(b"one\xe2\x82")
        first = printed.take(last=True)
        printed.add(b"\xac")
        later = PrintedText()
        later.continue_from(printed)
        assert later.news.done()
        later.add(b"two")
        return [first, later.take()]

    assert with_printed(work) == [{"offset": 0, "text": "one"}, {"offset": 3, "text": "€two"}]


def test_there_is_no_piece_when_nothing_is_new() -> None:
    assert with_printed(lambda printed: [printed.take(), printed.take(last=True), printed.news.done()]) == [
        None,
        None,
        False,
    ]


@pytest.mark.parametrize(("seconds", "most"), [(1, 6), (9, 46), (900, PIECES_AT_ONCE + 901)])
def test_a_run_that_prints_all_the_time_sends_a_bounded_number_of_pieces(seconds: int, most: int) -> None:
    pace = Pace(0)
    sent = 0
    while pace.next < seconds:
        pace.sent(pace.next)
        sent += 1
    assert most * 0.8 < sent <= most
    # A pause earns pieces.
    pace.sent(seconds + 3_600)
    assert pace.next == seconds + 3_600 + 0.2
