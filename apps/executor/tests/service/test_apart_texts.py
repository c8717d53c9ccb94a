"""The long texts of an outcome, which follow its line for a caller that takes them so."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import pytest

from ..child.workflows.test_task_runs import one
from ..support.executor import Executor, python

BEGIN = {"seed": 7, "now": 1_700_000_000}
LONG = "\u20ac\n" * 40_000


def outcome_and_rest(executor: Executor, source: dict[str, str], **fields: Any) -> tuple[dict[str, Any], bytes]:
    """The outcome as its line has it, and what follows the line."""
    executor.import_frameworks()
    request = executor.request(source, **fields)
    answer = executor.http.post("/run", json=request, headers={"x-executor-texts": "apart"})
    assert answer.status_code == 200, answer.text
    rest = answer.content
    line: dict[str, Any] = {}
    while "outcome" not in line:
        text, _, rest = rest.partition(b"\n")
        line = json.loads(text)
    return line["outcome"], rest


def returning(text: str) -> dict[str, str]:
    """A program whose result has this text, built there so that the source is short."""
    return python(f'def main(n=40_000):\n    return {{"counts": {{"0": 1}}, "text": {text}}}')


def test_a_long_result_follows_its_line_as_it_is(executor: Executor) -> None:
    source = returning("'\\u20ac\\n' * n")
    outcome, rest = outcome_and_rest(executor, source)
    assert (outcome["status"], outcome["result"]) == ("completed", {"bytes": len(rest)})
    apart, whole = json.loads(rest), executor.run(source).result
    assert apart["text"] == whole["text"] == LONG
    assert set(apart) == set(whole)


def test_a_short_result_stays_in_its_line(executor: Executor) -> None:
    outcome, rest = outcome_and_rest(executor, returning("'short'"))
    assert (json.loads(outcome["result"])["text"], rest) == ("short", b"")


@pytest.mark.skipif(importlib.util.find_spec("marqov") is None, reason="the SDK needs Python 3.12")
def test_the_value_of_a_task_is_sent_once_where_people_read_the_same(executor: Executor) -> None:
    source = {"kind": "code", "framework": "marqov", "code": one("def f(): return '\\u20ac\\n' * 40_000")}
    node = executor.run(source, graphs="ask", script=BEGIN).outcome["ask"]["graph"]["nodes"][0]
    task = {"name": node["func_name"], "function": node["function"], "arguments": node["arguments"], "values": {}}
    outcome, rest = outcome_and_rest(executor, source, task=task)
    assert (outcome["result"], outcome["display"]) == ({"bytes": len(rest)}, {"same_as": "result"})
    assert json.loads(rest) == LONG


def test_the_long_results_of_points_follow_in_their_order(executor: Executor) -> None:
    points = [{"params": {"n": n}} for n in (25_000, 1, 25_001)]
    outcome, rest = outcome_and_rest(executor, returning("'\\u20ac\\n' * n"), points=points)
    first, short, last = (point["result"] for point in outcome["points"])
    assert len(rest) == first["bytes"] + last["bytes"]
    lengths = [
        len(json.loads(text)["value"]["text"]) for text in (rest[: first["bytes"]], short, rest[first["bytes"] :])
    ]
    assert lengths == [50_000, 2, 50_002]
