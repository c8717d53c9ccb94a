"""What a child reports, once it is checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..job import ErrorCode


@dataclass(frozen=True)
class CircuitReport:
    """A circuit was executed: counts by bit string (qubit 0 / clbit 0 leftmost), facts about the circuit, how many
    shots (a program may request others from its device than the job's), and its canonical OpenQASM 3 unless that is too
    long."""

    counts: dict[str, int]
    circuit_info: dict[str, Any]
    registers: list[dict[str, Any]]
    circuit_sha256: str | None
    warnings: list[str]
    shots: int
    circuit: str | None
    state_vector: list[list[float]] | bytes | None
    expectation_values: list[dict[str, Any]] | None
    mitigation: dict[str, Any] | None = None
    """What was done for `params.mitigation`, as a member of the result."""
    quasi_probabilities: dict[str, float] | None = None
    """Where readout was mitigated; None also for too many different results."""
    observable_groups: int | None = None
    """How many circuits were measured for the job's observables; None where nothing was sampled for them."""
    provided: bool = False
    """The caller provided the counts, as the answer to a circuit request."""
    provenance: dict[str, str] = field(default_factory=dict)
    """Where provided counts come from, as the caller reported."""
    workflow_metadata: dict[str, Any] | None = None
    """Metadata of the graphs that the child executed itself."""


@dataclass(frozen=True)
class ValueReport:
    """A `main` returned a value. It is passed on as text: `members` are those of a JSON object, without its braces, and
    `names` are the ones that a result has too. `device_shots` are up to two numbers of shots with which the program ran
    circuits on the job's device, in the execution that returned the value."""

    members: str
    names: list[str]
    warnings: list[str]
    device_shots: list[int] = field(default_factory=list)
    workflow_metadata: dict[str, Any] | None = None


@dataclass(frozen=True)
class TaskReport:
    """A task of a graph returned: its value as JSON text, and the same for people or why that is missing."""

    result: str
    display: str | None
    display_problem: str | None
    device_shots: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class CircuitLeftReport:
    """The code left a circuit for a second child: its OpenQASM 3 and the facts that the text cannot express."""

    openqasm3: str
    facts: dict[str, Any]
    warnings: list[str]


@dataclass(frozen=True)
class PointsReport:
    """The first points of a sweep were executed, each with a report of its own."""

    points: list[CircuitReport | ValueReport | CircuitLeftReport | UserError]


@dataclass(frozen=True)
class FieldsReport:
    """The fields of an answer that gives no counts."""

    fields: dict[str, Any]


@dataclass(frozen=True)
class UserError:
    """The job cannot be executed; `line` counts from 1 in the user's own text."""

    code: ErrorCode
    message: str
    line: int | None


Report = CircuitReport | ValueReport | TaskReport | CircuitLeftReport | PointsReport | FieldsReport | UserError
