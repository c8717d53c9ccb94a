"""A job from its source to its outcome: which children it takes, one after the other.

OpenQASM and qiskit take one child. Code of another framework takes two: the first runs the code and tells the circuit
that it leaves, the second runs that circuit and no code, so the code cannot put counts of its own in their place. Code
whose framework is not said is first read, not run, by a child that tells its framework.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from ..job import CircuitLeft, Failed, FirstStage, Job, Limits, Outcome, QuestionAnswer, Sandbox

WALL_SECONDS_MIN = 0.1
"""What a later child gets at least, however long the earlier ones took."""


async def run_job(sandbox: Sandbox, job: Job, limits: Limits, accepted: Callable[[str], None]) -> Outcome:
    """Runs a job to its end within its wall time; `accepted` gets the framework once a child has taken it. Raises what
    `Sandbox.run` raises."""
    deadline = time.monotonic() + limits.wall_seconds

    def left() -> Limits:
        return replace(limits, wall_seconds=max(WALL_SECONDS_MIN, deadline - time.monotonic()))

    framework = job.source.get("framework", "openqasm")
    if job.script.task or job.script.finish or job.script.entry:
        framework = "marqov"  # Whose graphs they are of, whatever the source is taken for.
        job = replace(job, source={**job.source, "framework": framework})
    if framework == "auto" and job.task != "analyse" and job.script.resume is None:
        outcome = await sandbox.run(replace(job, task="detect"), left(), _ignore)
        if not isinstance(outcome, QuestionAnswer):
            accepted(framework)
            return outcome
        framework = outcome.fields["framework"]
        job = replace(job, source={**job.source, "framework": framework})
    outcome = await sandbox.run(job, left(), lambda: accepted(framework))
    if not isinstance(outcome, CircuitLeft):
        return _in_whole_limit(outcome, limits)
    earlier = FirstStage(framework, outcome.execution_time_ms, outcome.stdout, outcome.warnings)
    circuit = replace(
        job,
        source={"kind": "circuit", "format": "qasm3", "payload": outcome.openqasm3},
        script=replace(job.script, graphs="here", circuits="here", answers=[], entry=None, resume=None),
        circuit_facts=outcome.facts,
        earlier=earlier,
    )
    second = await sandbox.run(circuit, left(), _ignore)
    if isinstance(second, QuestionAnswer):
        second.fields["warnings"] = [*earlier.warnings, *second.fields["warnings"]]
    # A line in the circuit's text is not a line of the user's own.
    return _in_whole_limit(replace(second, line=None) if isinstance(second, Failed) else second, limits)


def _ignore() -> None:
    """The job was accepted with its first child."""


def _in_whole_limit(outcome: Outcome, limits: Limits) -> Outcome:
    """A time limit is told as the job's, not as what was left of it for the last child."""
    if isinstance(outcome, Failed) and outcome.message.startswith("time limit of "):
        return replace(outcome, message=f"time limit of {limits.wall_seconds:g} s")
    return outcome
