"""The errors and warnings of an analysis."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any, Literal

WARNINGS_MAX = 50
"""More would not help a reader; the answer reports how many were omitted."""
ERRORS_MAX = 50
_SHOWN_MAX = 80

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Fault:
    """Why a script cannot be stored. Line and column count from 1, in characters, in the text that `source` names."""

    message: str
    line: int | None = None
    column: int | None = None
    source: Literal["code", "requirements"] = "code"


@dataclass(frozen=True)
class Caution:
    """A probable problem. `line` counts from 1: in the requirements if the id begins with `requirement`, else in the
    code."""

    id: str
    message: str
    line: int | None = None


def shown(name: str) -> str:
    """A user's name, short enough for a message."""
    return name if len(name) <= _SHOWN_MAX else f"{name[:_SHOWN_MAX]}..."


def lines_of(text: str) -> list[str]:
    """The lines as Python counts them: a form feed or U+2028 does not end a line."""
    return _LINE_END.split(text)


def place(text: str, index: int) -> tuple[int, int]:
    """Line and column of a character."""
    before = lines_of(text[:index])
    return len(before), len(before[-1]) + 1


def shown_faults(faults: list[Fault]) -> list[dict[str, Any]]:
    """The first faults, as plain values."""
    return [asdict(fault) for fault in faults[:ERRORS_MAX]]


def shown_cautions(cautions: list[Caution]) -> list[dict[str, Any]]:
    """The first cautions, as plain values, and how many more there are."""
    shown_items = cautions if len(cautions) <= WARNINGS_MAX else cautions[: WARNINGS_MAX - 1]
    left = len(cautions) - len(shown_items)
    if left:
        shown_items = [*shown_items, Caution("more_warnings", f"{left} more warnings are not shown")]
    return [
        {"id": item.id, "message": item.message, **({} if item.line is None else {"line": item.line})}
        for item in shown_items
    ]
