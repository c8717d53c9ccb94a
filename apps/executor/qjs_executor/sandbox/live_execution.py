"""A job's execution in its child over all of its stretches: from its start, or an answer, to its next request or its
end."""

from __future__ import annotations

import asyncio
import hashlib
import json
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
    counted: dict[str, tuple[str, dict[str, str]]] = field(default_factory=dict)
    """Of each answered request for a circuit, by its digest: the digest of the counts, and where they come from, as the
    caller reported. Counts that it reports as its own result have to be among them."""
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
                provenance: dict[str, str] = {
                    key: answer[key] for key in ("count_source", "provider_job_id") if key in answer
                }
                self.counted[answer["digest"]] = _digest_of(counts), provenance

    def provenance_of(self, report: CircuitReport) -> dict[str, str] | None:
        """Where the counts of a reported circuit come from; None for counts that it did not receive for it."""
        if report.circuit is None:
            return None
        digest, provenance = self.counted.get(circuit_digest(report.circuit, report.shots), ("", {}))
        return provenance if digest == _digest_of(report.counts) else None

    def check_answer(self, job: Job) -> None:
        """Raises WrongAnswer unless the job contains the answer that the execution waits for."""
        assert self.ask is not None
        (answer,) = job.script.answers
        if answer["digest"] != self.ask["digest"]:
            raise WrongAnswer(f"answers[0].digest: the run waits for the answer to {self.ask['digest']}")
        if ("values" in answer) != (self.ask["kind"] == "graph"):
            raise WrongAnswer(f"answers[0]: the run waits for the answer to a {self.ask['kind']}")


def _digest_of(counts: dict[str, int]) -> str:
    return hashlib.sha256(json.dumps(counts, sort_keys=True).encode("ascii")).hexdigest()
