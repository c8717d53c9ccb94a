"""What happens in the executor, in the text format of Prometheus: counters of what has been, and gauges of what is."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from ..job import Failed, Job, NotParked, Outcome, Returned, Sandbox, SandboxBusy, SandboxFault
from .lanes import Lane, Lanes

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0)
"""Upper bounds in seconds: from a warm Bell pair to the longest wall time that a request may ask for."""
LIMITS = {"time limit": "time", "memory limit": "memory", "output limit": "output", "crashed": "crash"}
"""How the messages of runs that were ended begin, and their label."""

PARKING_ENDS = ("resumed", "expired", "displaced", "died")

_Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counts the runs of one executor; `text` is what a scrape gets."""

    def __init__(self, sandbox: Sandbox, lanes: Lanes) -> None:
        self._sandbox = sandbox
        self._lanes = lanes
        self._runs: Counter[_Labels] = Counter()
        self._limits: Counter[str] = Counter()
        self._refusals: Counter[_Labels] = Counter()
        self._seconds: dict[str, list[int]] = {}
        self._seconds_sum: dict[str, float] = {}

    @contextmanager
    def run(self, job: Job, lane: Lane) -> Iterator[_Measured]:
        """Measures one run, waiting for its slot included; its outcome is put into what this gives."""
        measured = _Measured()
        started = time.monotonic()
        try:
            yield measured
        except SandboxBusy:
            self._refusals[(("lane", lane.name), ("reason", "busy"))] += 1
            raise
        except NotParked:
            self._refusals[(("lane", lane.name), ("reason", "not_parked"))] += 1
            raise
        except SandboxFault:
            self._refusals[(("lane", lane.name), ("reason", "fault"))] += 1
            raise
        finally:
            if measured.outcome is not None:
                self._count(job, lane, measured.outcome, time.monotonic() - started)

    def _count(self, job: Job, lane: Lane, outcome: Outcome, seconds: float) -> None:
        name = outcome_name(outcome)
        self._runs[(("lane", lane.name), ("task", job.task), ("outcome", name))] += 1
        buckets = self._seconds.setdefault(lane.name, [0] * (len(BUCKETS) + 1))
        buckets[bisect_left(BUCKETS, seconds)] += 1
        self._seconds_sum[lane.name] = self._seconds_sum.get(lane.name, 0.0) + seconds
        if isinstance(outcome, Failed):
            for beginning, limit in LIMITS.items():
                if outcome.message.startswith(beginning):
                    self._limits[limit] += 1

    def text(self) -> str:
        """The whole page."""
        return "\n".join([*self._counted(), *self._present()]) + "\n"

    def _counted(self) -> Iterator[str]:
        yield from _head("qjs_executor_runs_total", "counter", "Runs that ended, by lane, task and outcome.")
        for labels, count in sorted(self._runs.items()):
            yield _line("qjs_executor_runs_total", count, labels)
        yield from _head("qjs_executor_run_seconds", "histogram", "Seconds from the request to the end of a run.")
        for lane, buckets in sorted(self._seconds.items()):
            total = 0
            for bound, count in zip([*map(str, BUCKETS), "+Inf"], buckets, strict=True):
                total += count
                yield _line("qjs_executor_run_seconds_bucket", total, (("lane", lane), ("le", bound)))
            yield _line("qjs_executor_run_seconds_sum", round(self._seconds_sum[lane], 6), (("lane", lane),))
            yield _line("qjs_executor_run_seconds_count", total, (("lane", lane),))
        yield from _head("qjs_executor_runs_ended_total", "counter", "Runs that a limit or a crash ended, by which.")
        for limit in LIMITS.values():
            yield _line("qjs_executor_runs_ended_total", self._limits[limit], (("limit", limit),))
        yield from _head(
            "qjs_executor_refusals_total", "counter", "Requests that found no slot (busy), no child or no run."
        )
        for labels, count in sorted(self._refusals.items()):
            yield _line("qjs_executor_refusals_total", count, labels)

    def _present(self) -> Iterator[str]:
        facts, lanes = self._sandbox.facts(), self._lanes
        yield from _head("qjs_executor_isolated", "gauge", "1 when runs are isolated at the level that is named.")
        isolated = int(facts.level != "none")
        yield _line("qjs_executor_isolated", isolated, (("level", facts.level), ("isolation", facts.isolation)))
        yield from _head("qjs_executor_slots", "gauge", "Slots of jobs; interactive runs have one more.")
        yield _line("qjs_executor_slots", lanes.job_slots)
        yield from _head("qjs_executor_slots_running", "gauge", "Runs that hold a slot, by lane.")
        yield _line("qjs_executor_slots_running", lanes.jobs_running, (("lane", "jobs"),))
        yield _line("qjs_executor_slots_running", lanes.interactive_running, (("lane", "interactive"),))
        yield from _head("qjs_executor_waiting", "gauge", "Interactive runs that wait for a slot.")
        yield _line("qjs_executor_waiting", lanes.waiting)
        yield from _head("qjs_executor_parked", "gauge", "Runs that wait for an answer, stopped and without a slot.")
        yield _line("qjs_executor_parked", facts.parked)
        yield from _head("qjs_executor_parkings_total", "counter", "Runs that waited for an answer, by how that ended.")
        for why in PARKING_ENDS:
            yield _line("qjs_executor_parkings_total", facts.parkings.get(why, 0), (("end", why),))
        for key, kind, text in (
            ("up", "gauge", "1 while a zygote is up, by its set of packages."),
            ("ready", "gauge", "Children in stock."),
            ("jobs", "gauge", "Jobs that the present zygote has served."),
            ("restarts", "counter", "Zygotes that died and were replaced."),
            ("recycled", "counter", "Zygotes that had served enough and were replaced."),
        ):
            name = f"qjs_executor_zygote_{key}" + ("_total" if kind == "counter" else "")
            yield from _head(name, kind, text)
            for zygote in facts.zygotes:
                yield _line(name, int(zygote[key]), (("set", zygote["set"]),))


def outcome_name(outcome: Outcome) -> str:
    """An outcome in one word, as metrics and logs have it."""
    return "completed" if isinstance(outcome, Returned) else type(outcome).__name__.lower()


class _Measured:
    """Where a measured run leaves its outcome."""

    outcome: Outcome | None = None


def _head(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"


def _line(name: str, value: float, labels: _Labels = ()) -> str:
    shown = ",".join(f'{key}="{text}"' for key, text in labels)
    return f"{name}{{{shown}}} {value}" if shown else f"{name} {value}"
