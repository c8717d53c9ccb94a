"""How results look in a notebook. Everything that comes from a program, a name or a label is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .results import ExpectationValue, Point, Result, SweepResult

ROWS_MAX = 32
"""Outcomes of a histogram and points of a table; the rest is counted."""
TEXT_MAX = 200
"""Characters of a value in a table."""

_BAR = "background:#4c78a8;height:0.9em;min-width:1px;width:{:.2f}%"
_MONO = "font-family:monospace;white-space:pre"


def result_html(result: Result) -> str:
    """A histogram, the expectation values and the circuit; of a program, what it returned."""
    parts = []
    if result.counts is not None:
        parts.append(histogram(result.counts))
    if result.expectation_values:
        parts.append(_table(("observable", "value", "error"), map(_value_row, result.expectation_values)))
    if result.counts is None:
        parts.append(f'<div style="{_MONO}">{_text(result.value)}</div>')
    if result.circuit_text:
        drawing = f"<pre style='line-height:1.2'>{escape(result.circuit_text)}</pre>"
        parts.append(f"<details><summary>circuit</summary>{drawing}</details>")
    return "".join(parts)


def histogram(counts: Mapping[str, int]) -> str:
    """A bar for each outcome, the most frequent first where there are too many for one view."""
    total = sum(counts.values()) or 1
    most = max(counts.values(), default=0) or 1
    shown = sorted(counts, key=lambda key: (-counts[key], key))[:ROWS_MAX]
    rows = [
        f'<tr><td style="{_MONO}">{escape(key)}</td><td style="text-align:right">{counts[key]}</td>'
        f'<td style="text-align:right">{counts[key] / total:.1%}</td>'
        f'<td style="width:16em;text-align:left"><div style="{_BAR.format(100 * counts[key] / most)}"></div></td></tr>'
        for key in (sorted(shown) if len(shown) == len(counts) else shown)
    ]
    return f"<table>{''.join(rows)}</table>{_more(len(counts) - len(shown), 'outcomes')}"


def points_html(sweep: SweepResult) -> str:
    """A row for each point: its parameters and what it gave."""
    rows = ((str(point.index), _text(dict(point.params)), _outcome(point)) for point in sweep.points[:ROWS_MAX])
    return _table(("point", "params", "result"), rows) + _more(len(sweep.points) - ROWS_MAX, "points")


def job_html(fields: Mapping[str, Any]) -> str:
    """A row for each field of a job."""
    return _table(("", "job"), ((escape(name), _text(value)) for name, value in fields.items()))


def _outcome(point: Point) -> str:
    if point.result is None:
        error = point.error or {}
        return f"<b>{_text(error.get('code', 'failed'))}</b> {_text(error.get('message', ''))}"
    if point.result.expectation_values:
        return "<br>".join(" ".join(_value_row(one)[1:]) for one in point.result.expectation_values[:4])
    if point.result.counts is None:
        return _text(point.result.value)
    most = sorted(point.result.counts.items(), key=lambda item: (-item[1], item[0]))[:4]
    dots = " ..." if len(point.result.counts) > len(most) else ""
    return f'<span style="{_MONO}">{escape(", ".join(f"{key}: {count}" for key, count in most))}{dots}</span>'


def _value_row(one: ExpectationValue) -> tuple[str, str, str]:
    error = "" if one.standard_error is None else f"± {one.standard_error:.2g}"
    return _text(one.observable), f"{one.value:.6g}", error


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    cells = "".join(f"<th style='text-align:left'>{name}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{cell}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><tr>{cells}</tr>{body}</table>"


def _more(count: int, what: str) -> str:
    return f"<p>and {count} more {what}</p>" if count > 0 else ""


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return escape(text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}...")
