"""Takes a job from its source to its outcome, through one child after the other.

OpenQASM and qiskit take one child. Code of another framework takes two: the first runs the code and reports the circuit
that it leaves, the second executes that circuit and none of the code, so the code cannot replace the counts with its
own. Code whose framework is not given is first read, not run, by a child that detects its framework.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

from ..job import (
    CircuitLeft,
    Completed,
    Failed,
    FirstStage,
    Job,
    Limits,
    Outcome,
    Point,
    PointsRun,
    QuestionAnswer,
    Sandbox,
)
from ..printed_text import PrintedText

WALL_SECONDS_MIN = 0.1
"""The least time that a later child gets, however long the previous ones took."""


async def execute_job(
    sandbox: Sandbox, job: Job, limits: Limits, accepted: Callable[[str], None], printed: PrintedText | None = None
) -> Outcome:
    """Executes a job within its wall time; `accepted` gets the framework once a child has taken the job, and `printed`
    collects what its children print. Raises what `Sandbox.run` raises."""
    deadline = time.monotonic() + limits.wall_seconds

    async def execute(stage: Job, accepted: Callable[[], None]) -> Outcome:
        nonlocal deadline
        began = time.monotonic()
        await sandbox.prepare(stage, limits)
        # The first job that needs a package waits for its import, which does not count as the job's time.
        deadline += time.monotonic() - began
        left = max(WALL_SECONDS_MIN, deadline - time.monotonic())
        return await sandbox.run(stage, replace(limits, wall_seconds=left), accepted, printed)

    framework = job.source.get("framework", "openqasm")
    if job.script.task or job.script.finish or job.script.entry:
        framework = "marqov"  # The graphs are marqov's, whatever framework the source was taken for.
        job = replace(job, source={**job.source, "framework": framework})
    if framework == "auto" and job.kind != "analyse" and job.script.resume is None:
        outcome = await execute(replace(job, kind="detect"), _ignore)
        if not isinstance(outcome, QuestionAnswer):
            accepted(framework)
            return outcome
        framework = outcome.fields["framework"]
        job = replace(job, source={**job.source, "framework": framework})
    outcome = await execute(job, lambda: accepted(framework))
    if isinstance(outcome, PointsRun) and any(isinstance(one, CircuitLeft) for one in outcome.points):
        return _in_whole_limit(await _with_circuits(outcome, job, framework, execute), limits)
    if not isinstance(outcome, CircuitLeft):
        return _in_whole_limit(outcome, limits)
    first = FirstStage(framework, outcome.execution_time_ms, outcome.stdout, outcome.warnings)
    circuit = replace(
        job,
        source=_circuit(outcome.openqasm3),
        script=replace(job.script, graphs="here", circuits="here", answers=[], entry=None, resume=None),
        circuit_facts=outcome.facts,
        first_stage=first,
    )
    second = await execute(circuit, _ignore)
    if isinstance(second, QuestionAnswer):
        second.fields["warnings"] = [*first.warnings, *second.fields["warnings"]]
    # A line in the circuit's text is not a line of the user's own.
    return _in_whole_limit(replace(second, line=None) if isinstance(second, Failed) else second, limits)


async def _with_circuits(
    first: PointsRun, job: Job, framework: str, execute: Callable[[Job, Callable[[], None]], Awaitable[Outcome]]
) -> Outcome:
    """The points up to the first whose circuit a second child had no time or room for."""
    left = [
        Point(point.params, _circuit(one.openqasm3), one.facts, one.warnings)
        for point, one in zip(job.points, first.points, strict=False)
        if isinstance(one, CircuitLeft)
    ]
    stage = FirstStage(framework, first.execution_time_ms, first.stdout, [])
    second = await execute(replace(job, source=left[0].source or {}, points=left, first_stage=stage), _ignore)
    if not isinstance(second, PointsRun):
        return replace(second, line=None) if isinstance(second, Failed) else second
    found = iter(second.points)
    points: list[Completed | Failed | CircuitLeft] = []
    for one in first.points:
        if isinstance(one, CircuitLeft):
            executed = next(found, None)
            if executed is None:
                break
            one = replace(executed, line=None) if isinstance(executed, Failed) else executed
        points.append(one)
    return PointsRun(second.execution_time_ms, points, second.stdout)


def _circuit(openqasm3: str) -> dict[str, str]:
    return {"kind": "circuit", "format": "qasm3", "payload": openqasm3}


def _ignore() -> None:
    """The job was accepted with its first child."""


def _in_whole_limit(outcome: Outcome, limits: Limits) -> Outcome:
    """Reports a time limit as the job's, not as what was left of it for the last child."""
    if isinstance(outcome, Failed) and outcome.message.startswith("time limit of "):
        return replace(outcome, message=f"time limit of {limits.wall_seconds:g} s")
    return outcome
