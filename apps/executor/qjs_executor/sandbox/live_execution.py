"""A job's execution in its child over all of its stretches: from its start, or an answer, to its next request or its
end."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from ..child.asks import circuit_digest
from ..job import Job, WrongAnswer
from ..printed_text import PrintedText
from ..protocol.ask import counts_of
from ..protocol.reports import CircuitReport
from .pool import Pool
from .pooled_child import PooledChild


@dataclass(eq=False)
class LiveExecution:
    """`watch` counts the execution's memory where there are no control groups."""

    pool: Pool
    child: PooledChild
    watch: asyncio.Task[None] | None
    asked: int = 0
    """The number of its last request; requests that were answered from memory count too."""
    ask: dict[str, Any] | None = None
    """The request that it waits with."""
    counts: dict[str, int] | None = None
    """The last counts that it received for a circuit. Counts that it reports as its own result have to be these."""
    provenance: dict[str, str] = field(default_factory=dict)
    """Where these counts come from, as the caller reported."""
    counted: str = ""
    """The digest of the request that these counts answer."""
    printed: PrintedText | None = None
    """What it prints, for a caller who follows it."""
    seconds: float = 0.0
    """The time that its previous stretches took."""

    @property
    def final(self) -> bool:
        """Whether its last request also ends it."""
        return self.ask is not None and bool(self.ask["final"])

    def follow(self, printed: PrintedText | None) -> None:
        """Collects what is printed from now on in `printed`; after an answer, with what it has printed before."""
        if printed is not None and self.printed is not None:
            printed.continue_from(self.printed)
        self.printed = printed
        self.child.follow(None if printed is None else printed.add)

    def remember(self, job: Job) -> None:
        """Stores the answers that arrive with a job."""
        for answer in job.script.answers:
            counts = counts_of(answer)
            if counts is not None:
                self.counts, self.counted = counts, answer["digest"]
                self.provenance = {key: answer[key] for key in ("count_source", "provider_job_id") if key in answer}

    def has_provided(self, report: CircuitReport) -> bool:
        """Whether a reported circuit is the one that the last counts belong to, and its counts are these."""
        if self.counts is None or report.counts != self.counts or report.circuit is None:
            return False
        return circuit_digest(report.circuit, report.shots) == self.counted

    def check_answer(self, job: Job) -> None:
        """Raises WrongAnswer unless the job contains the answer that the execution waits for."""
        assert self.ask is not None
        (answer,) = job.script.answers
        if answer["digest"] != self.ask["digest"]:
            raise WrongAnswer(f"answers[0].digest: the run waits for the answer to {self.ask['digest']}")
        if ("values" in answer) != (self.ask["kind"] == "graph"):
            raise WrongAnswer(f"answers[0]: the run waits for the answer to a {self.ask['kind']}")
