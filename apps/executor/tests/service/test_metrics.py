"""GET /metrics: behind the token, well formed, and true to what has been run."""

from __future__ import annotations

import re
from collections.abc import Callable

import httpx

from ..support.executor import BELL, Executor, python, qasm

LINE = re.compile(r'[a-z_]+(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? -?[0-9.]+(e[+-]?\d+)?')


def samples(executor: Executor) -> dict[str, float]:
    """Every line of the page that is no comment: its name with labels, and its value."""
    answer = executor.http.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    assert all(LINE.fullmatch(line) for line in lines)
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines}


def grown(executor: Executor, act: Callable[[], object]) -> dict[str, float]:
    """By how much each value grew while `act` ran; without what did not change."""
    before = samples(executor)
    act()
    return {name: now - before.get(name, 0) for name, now in samples(executor).items() if now != before.get(name, 0)}


def test_the_page_needs_the_token(executor: Executor) -> None:
    assert httpx.get(f"{executor.http.base_url}/metrics").status_code == 401


def test_a_completed_run_is_counted_once_with_its_time(executor: Executor) -> None:
    growth = grown(executor, lambda: executor.run(qasm(BELL)))
    assert growth['qjs_executor_runs_total{lane="jobs",task="run",outcome="completed"}'] == 1
    assert growth['qjs_executor_run_seconds_count{lane="jobs"}'] == 1
    assert growth['qjs_executor_run_seconds_bucket{lane="jobs",le="+Inf"}'] == 1
    assert 0 < growth['qjs_executor_run_seconds_sum{lane="jobs"}'] < 60
    page = samples(executor)
    buckets = [value for name, value in page.items() if name.startswith('qjs_executor_run_seconds_bucket{lane="jobs"')]
    assert buckets == sorted(buckets), "a histogram's buckets add up"


def test_what_ended_a_run_is_counted(executor: Executor) -> None:
    growth = grown(executor, lambda: executor.run(python("while True: pass"), wall=0.5))
    assert growth['qjs_executor_runs_ended_total{limit="time"}'] == 1
    assert growth['qjs_executor_runs_total{lane="jobs",task="run",outcome="failed"}'] == 1
    assert grown(executor, lambda: executor.run(python("x = bytearray(9 << 30)")))[
        'qjs_executor_runs_ended_total{limit="memory"}'
    ] == 1  # fmt: skip
    assert grown(executor, lambda: executor.run(python("import os\nos._exit(7)")))[
        'qjs_executor_runs_ended_total{limit="crash"}'
    ] == 1  # fmt: skip


def test_slots_refusals_and_zygotes_are_shown(executor: Executor) -> None:
    loop = executor.request(python("while True: pass"), wall=30)
    streams = [executor.http.stream("POST", "/run", json=loop) for _ in range(3)]
    answers = [stream.__enter__() for stream in streams]
    lines = [answer.iter_lines() for answer in answers]
    assert all("accepted" in next(line) for line in lines)
    growth = grown(executor, lambda: executor.run(qasm(BELL)))
    assert growth['qjs_executor_refusals_total{lane="jobs",reason="busy"}'] == 1
    page = samples(executor)
    assert page['qjs_executor_slots_running{lane="jobs"}'] == page["qjs_executor_slots"] == 3
    for stream in streams:
        stream.__exit__(None, None, None)
    for zygote in executor.health()["sandbox"]["zygotes"]:
        assert page[f'qjs_executor_zygote_up{{set="{zygote["set"]}"}}'] == 1
        assert page[f'qjs_executor_zygote_restarts_total{{set="{zygote["set"]}"}}'] == zygote["restarts"]
    assert [value for name, value in page.items() if name.startswith("qjs_executor_isolated")] == [1]
