"""How a run deals with graphs of tasks and with circuits, and what it is run for beside its source."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Where = Literal["here", "ask"]
"""Who does the work: this child itself, or the service, of which it is asked."""


@dataclass(frozen=True)
class Script:
    """`seed` and `now` (seconds since 1970) fix randomness and the clock, so that a second run asks for the same.
    `answers` are those to its first requests. `entry` {model, entrypoint, input} says what of the source is called,
    `task` {function, name, arguments, values} is one task of a graph, `finish` {name, output, values} what a workflow
    returns. Inputs, arguments, outputs and values are JSON texts."""

    graphs: Where = "here"
    circuits: Where = "here"
    seed: int | None = None
    now: float | None = None
    entry: dict[str, Any] | None = None
    answers: list[dict[str, Any]] = field(default_factory=list)
    task: dict[str, Any] | None = None
    finish: dict[str, Any] | None = None

    @property
    def may_ask(self) -> bool:
        """Whether answers may come on the job's pipe."""
        return self.finish is None and "ask" in (self.graphs, self.circuits)


def script_of(job: dict[str, Any]) -> Script:
    """The terms of a job's message; those of a plain run where it has none."""
    given = job.get("script") or {}
    return Script(
        graphs=given.get("graphs", "here"),
        circuits=given.get("circuits", "here"),
        seed=given.get("seed"),
        now=given.get("now"),
        entry=given.get("entry"),
        answers=given.get("answers") or [],
        task=given.get("task"),
        finish=given.get("finish"),
    )
