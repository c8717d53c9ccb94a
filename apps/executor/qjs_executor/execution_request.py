"""Defines the request that the shell sends to a child: the one message that both sides share.

The shell builds it from a checked request and sends it as JSON; the child parses it before it runs any code of the
user. Neither side reads a field that is not named here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

SHOTS_MAX = 100_000
"""Of one run of a circuit; the API has the same limit."""

ENGINES = ("statevector", "density_matrix", "mps", "noisy", "gpu_statevector", "gpu_tensor_network")
"""All known engines; only a child can tell which of the GPU engines a machine has."""

RequestKind = Literal["run", "convert", "compile", "analyse", "capture", "detect", "engines"]
"""The kind of request about a source: its counts, its canonical OpenQASM 3, its form for a provider, the facts of its
text, the graph of its workflow's tasks, or its framework. `engines` lists the engines of this machine, whatever the
source."""

Where = Literal["here", "ask"]
"""Who runs a script's graphs or circuits: the child itself, or the caller, from whom the results are requested."""


@dataclass(frozen=True)
class ScriptTerms:
    """How a child treats a script. Inputs, arguments, outputs and values are JSON texts that only the child reads. At
    most one of `entry`, `task` and `finish` is set."""

    graphs: Where = "here"
    circuits: Where = "here"
    seed: int | None = None
    """With `now` it fixes randomness and the clock, so that a repeated script makes the same requests."""
    now: float | None = None
    """Where the script's clock begins, in seconds since 1970."""
    entry: dict[str, Any] | None = None
    """{model, entrypoint, input}: which function of the source is called, and with what."""
    answers: list[dict[str, Any]] = field(default_factory=list)
    """The answers to the script's first requests, in order; for a resumed run, the one that it waits for."""
    task: dict[str, Any] | None = None
    """{function, name, arguments, values}: one task of a graph, run instead of the source."""
    finish: dict[str, Any] | None = None
    """{name, output, values}: the result is built from what a workflow returned; no code is run."""

    @property
    def may_ask(self) -> bool:
        """Whether the child keeps the channel on which answers arrive."""
        return self.finish is None and "ask" in (self.graphs, self.circuits)


@dataclass(frozen=True)
class ExecutionRequest:
    """One execution, complete: a child needs nothing else to carry it out."""

    kind: RequestKind
    source: dict[str, str]
    """{kind: code, framework, code} or {kind: circuit, format, payload}; an analog program is a circuit of the format
    ahs."""
    backend: str
    max_qubits: int
    shots: int
    optimization_level: int
    engine: str = "statevector"
    seed: int | None = None
    noise_model: dict[str, Any] | None = None
    extract_state_vector: bool = False
    observables: list[str] = field(default_factory=list)
    """Sums of Pauli products whose expectation values are asked for."""
    observables_method: Literal["exact", "sampled"] | None = None
    mitigation: dict[str, Any] | None = None
    """As the job's parameters write it."""
    params: dict[str, Any] = field(default_factory=dict)
    """The job's parameters as the user's code may read them, the backend among them."""
    details: dict[str, Any] = field(default_factory=dict)
    """What a kind needs in addition to the source: `compile` its target, `analyse` the requirements, `capture` the
    entry point and its arguments."""
    circuit_facts: dict[str, Any] = field(default_factory=dict)
    """What the first stage reported of a circuit that its text cannot say: shown register names, observables."""
    script: ScriptTerms = ScriptTerms()
    points: list[dict[str, Any]] = field(default_factory=list)
    """The runs of a sweep, in order: the members in which each differs from this request. Empty for a single run."""
    of_sweep: bool = False
    """One of those runs: what is drawn for people alone is left out, since it takes longer than the run."""

    def message(self) -> dict[str, Any]:
        """The request as plain JSON values."""
        return {**_members(self), "script": _members(self.script)}

    @classmethod
    def parse(cls, message: dict[str, Any]) -> ExecutionRequest:
        """The request in a message. Raises TypeError or KeyError for a message that the shell did not build."""
        return cls(**{**message, "script": ScriptTerms(**message["script"])})


def _members(value: ExecutionRequest | ScriptTerms) -> dict[str, Any]:
    return {member.name: getattr(value, member.name) for member in fields(value)}
