"""GET /metrics: behind the token, well formed, and true to what has been run."""

from __future__ import annotations

from collections.abc import Callable

import httpx
from prometheus_client.parser import text_string_to_metric_families

from ..support.executor import BELL, Executor, eventually, python, qasm
from ..support.processes import LOOP, hold

FAMILIES = {
    ("qjs_executor_runs_total", "counter", ("lane", "outcome", "task")),
    ("qjs_executor_run_seconds", "histogram", ("lane", "le")),
    ("qjs_executor_runs_ended_total", "counter", ("limit",)),
    ("qjs_executor_refusals_total", "counter", ("lane", "reason")),
    ("qjs_executor_isolated", "gauge", ("isolation", "level")),
    ("qjs_executor_slots", "gauge", ()),
    ("qjs_executor_slots_running", "gauge", ("lane",)),
    ("qjs_executor_waiting", "gauge", ()),
    ("qjs_executor_parked", "gauge", ()),
    ("qjs_executor_parkings_total", "counter", ("end",)),
    ("qjs_executor_zygote_up", "gauge", ("set",)),
    ("qjs_executor_zygote_ready", "gauge", ("set",)),
    ("qjs_executor_zygote_jobs", "gauge", ("set",)),
    ("qjs_executor_zygote_restarts_total", "counter", ("set",)),
    ("qjs_executor_zygote_recycled_total", "counter", ("set",)),
}
"""Names, types and labels that dashboards and alerts rely on."""


def page_of(executor: Executor) -> str:
    """The page that a scrape gets."""
    answer = executor.http.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return answer.text


def sample(name: str, **labels: str) -> str:
    """A sample's name with its labels in the order of the alphabet."""
    shown = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
    return f"{name}{{{shown}}}" if shown else name


def samples(executor: Executor) -> dict[str, float]:
    """Every sample of the page and its value."""
    families = text_string_to_metric_families(page_of(executor))
    return {sample(one.name, **one.labels): one.value for family in families for one in family.samples}


def grown(executor: Executor, act: Callable[[], object]) -> dict[str, float]:
    """By how much each value grew while `act` ran; without what did not change."""
    before = samples(executor)
    act()
    return {name: now - before.get(name, 0) for name, now in samples(executor).items() if now != before.get(name, 0)}


def test_the_page_needs_the_token(executor: Executor) -> None:
    assert httpx.get(f"{executor.http.base_url}/metrics").status_code == 401


def test_names_types_and_labels_stay_what_dashboards_rely_on(executor: Executor) -> None:
    executor.run(qasm(BELL))
    full = [hold(executor, LOOP) for _ in range(3)]
    # Not by executor.run, which waits for a free slot.
    assert executor.http.post("/run", json=executor.request(qasm(BELL))).status_code == 503
    for end in full:
        end()
    eventually(lambda: executor.health()["slots"]["running"] == 0, 60, "the slots are free for the next test")
    page = page_of(executor)
    types = dict(line.split()[2:4] for line in page.splitlines() if line.startswith("# TYPE"))
    labels: dict[str, set[str]] = {name: set() for name in types}
    for family in text_string_to_metric_families(page):
        for one in family.samples:
            labels[next(name for name in (one.name, family.name) if name in types)] |= one.labels.keys()
    assert {(name, kind, tuple(sorted(labels[name]))) for name, kind in types.items()} == FAMILIES
    assert not [line for line in page.splitlines() if "_created" in line]


def test_an_answered_question_is_counted_under_the_word_that_dashboards_know(executor: Executor) -> None:
    growth = grown(executor, lambda: executor.http.post("/convert", json={"source": qasm(BELL)}).raise_for_status())
    assert growth['qjs_executor_runs_total{lane="interactive",outcome="told",task="convert"}'] == 1


def test_a_completed_run_is_counted_once_with_its_time(executor: Executor) -> None:
    growth = grown(executor, lambda: executor.run(qasm(BELL)))
    assert growth['qjs_executor_runs_total{lane="jobs",outcome="completed",task="run"}'] == 1
    assert growth['qjs_executor_run_seconds_count{lane="jobs"}'] == 1
    assert growth['qjs_executor_run_seconds_bucket{lane="jobs",le="+Inf"}'] == 1
    assert 0 < growth['qjs_executor_run_seconds_sum{lane="jobs"}'] < 60
    page = samples(executor)
    buckets = [value for name, value in page.items() if name.startswith('qjs_executor_run_seconds_bucket{lane="jobs"')]
    assert buckets == sorted(buckets), "a histogram's buckets add up"


def test_runs_stopped_by_a_limit_are_counted_by_limit(executor: Executor) -> None:
    growth = grown(executor, lambda: executor.run(python("while True: pass"), wall=0.5))
    assert growth['qjs_executor_runs_ended_total{limit="time"}'] == 1
    assert growth['qjs_executor_runs_total{lane="jobs",outcome="failed",task="run"}'] == 1
    assert grown(executor, lambda: executor.run(python("x = bytearray(9 << 30)")))[
        'qjs_executor_runs_ended_total{limit="memory"}'
    ] == 1  # fmt: skip
    assert grown(executor, lambda: executor.run(python("import os\nos._exit(7)")))[
        'qjs_executor_runs_ended_total{limit="crash"}'
    ] == 1  # fmt: skip


def test_slots_refusals_and_zygotes_are_shown(executor: Executor) -> None:
    full = [hold(executor, LOOP) for _ in range(3)]
    growth = grown(executor, lambda: executor.http.post("/run", json=executor.request(qasm(BELL))))
    assert growth['qjs_executor_refusals_total{lane="jobs",reason="busy"}'] == 1
    page = samples(executor)
    assert page['qjs_executor_slots_running{lane="jobs"}'] == page["qjs_executor_slots"] == 3
    for end in full:
        end()
    eventually(lambda: executor.health()["slots"]["running"] == 0, 60, "the slots are free for the next test")
    for zygote in executor.health()["sandbox"]["zygotes"]:
        assert page[f'qjs_executor_zygote_up{{set="{zygote["set"]}"}}'] == int(zygote["up"])
        assert page[f'qjs_executor_zygote_restarts_total{{set="{zygote["set"]}"}}'] == zygote["restarts"]
    assert [value for name, value in page.items() if name.startswith("qjs_executor_isolated")] == [1]
