"""The executor's metrics for Prometheus: counters of what has happened, and gauges of the present state."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ..job import OUTCOME_NAMES, Failed, Job, NotParked, Outcome, Sandbox, SandboxBusy, SandboxFault
from .lanes import Lane, Lanes

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
BUCKETS = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0)
"""Upper bounds in seconds: from a warm Bell pair to the longest wall time that a request may have."""
LIMITS = {"time limit": "time", "memory limit": "memory", "output limit": "output", "crashed": "crash"}
"""How the messages of stopped executions begin, and their label."""
PARKING_ENDS = ("resumed", "expired", "displaced", "died")

# The time at which each counter began would be a further series for each of them.
disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """Counts the executions of one executor; `text` is the response to a scrape."""

    def __init__(self, sandbox: Sandbox, lanes: Lanes) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._runs = Counter(
            "qjs_executor_runs_total",
            "Runs that ended, by lane, task and outcome.",
            ["lane", "task", "outcome"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "qjs_executor_run_seconds",
            "Seconds from the request to the end of a run.",
            ["lane"],
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._limits = Counter(
            "qjs_executor_runs_ended_total",
            "Runs that a limit or a crash ended, by which.",
            ["limit"],
            registry=self._registry,
        )
        for limit in LIMITS.values():
            self._limits.labels(limit)
        self._refusals = Counter(
            "qjs_executor_refusals_total",
            "Requests that found no slot (busy), no child or no run.",
            ["lane", "reason"],
            registry=self._registry,
        )
        self._registry.register(_Present(sandbox, lanes))

    @contextmanager
    def run(self, job: Job, lane: Lane) -> Iterator[_Measured]:
        """Measures one execution, its wait for a slot included; the caller stores its outcome in what this yields."""
        measured = _Measured()
        started = time.monotonic()
        try:
            yield measured
        except SandboxBusy:
            self._refusals.labels(lane.name, "busy").inc()
            raise
        except NotParked:
            self._refusals.labels(lane.name, "not_parked").inc()
            raise
        except SandboxFault:
            self._refusals.labels(lane.name, "fault").inc()
            raise
        finally:
            if measured.outcome is not None:
                self._count(job, lane, measured.outcome, time.monotonic() - started)

    def _count(self, job: Job, lane: Lane, outcome: Outcome, seconds: float) -> None:
        self._runs.labels(lane.name, job.kind, OUTCOME_NAMES[type(outcome)]).inc()
        self._seconds.labels(lane.name).observe(seconds)
        if isinstance(outcome, Failed):
            for beginning, limit in LIMITS.items():
                if outcome.message.startswith(beginning):
                    self._limits.labels(limit).inc()

    def text(self) -> bytes:
        """The whole page."""
        return generate_latest(self._registry)


class _Present(Collector):
    """The state that the sandbox and the lanes have at the moment of a scrape."""

    def __init__(self, sandbox: Sandbox, lanes: Lanes) -> None:
        self._sandbox = sandbox
        self._lanes = lanes

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        facts, lanes = self._sandbox.facts(), self._lanes
        isolated = GaugeMetricFamily(
            "qjs_executor_isolated",
            "1 when runs are isolated at the level that is named.",
            labels=["level", "isolation"],
        )
        isolated.add_metric([facts.level, facts.isolation], int(facts.level != "none"))
        yield isolated
        yield GaugeMetricFamily(
            "qjs_executor_slots", "Slots of jobs; interactive runs have one more.", value=lanes.job_slots
        )
        running = GaugeMetricFamily("qjs_executor_slots_running", "Runs that hold a slot, by lane.", labels=["lane"])
        running.add_metric(["jobs"], lanes.jobs_running)
        running.add_metric(["interactive"], lanes.interactive_running)
        yield running
        yield GaugeMetricFamily("qjs_executor_waiting", "Interactive runs that wait for a slot.", value=lanes.waiting)
        yield GaugeMetricFamily(
            "qjs_executor_parked", "Runs that wait for an answer, stopped and without a slot.", value=facts.parked
        )
        parkings = CounterMetricFamily(
            "qjs_executor_parkings_total", "Runs that waited for an answer, by how that ended.", labels=["end"]
        )
        for why in PARKING_ENDS:
            parkings.add_metric([why], facts.parkings.get(why, 0))
        yield parkings
        for family, name, text in (
            (GaugeMetricFamily, "up", "1 while a zygote is up, by its set of packages."),
            (GaugeMetricFamily, "ready", "Children in stock."),
            (GaugeMetricFamily, "jobs", "Jobs that the present zygote has served."),
            (CounterMetricFamily, "restarts", "Zygotes that died and were replaced."),
            (CounterMetricFamily, "recycled", "Zygotes that had served enough and were replaced."),
        ):
            metric = family(f"qjs_executor_zygote_{name}", text, labels=["set"])
            for zygote in facts.zygotes:
                metric.add_metric([zygote["set"]], int(zygote[name]))
            yield metric


class _Measured:
    """Where a measured execution leaves its outcome."""

    outcome: Outcome | None = None
