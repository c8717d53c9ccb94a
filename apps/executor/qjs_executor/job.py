"""Defines the jobs that the HTTP side passes to a sandbox, and the possible outcomes of an execution.

A sandbox takes a job, executes it where it can do no harm, and returns an outcome. There is no other path to user code,
so another kind of isolation (a pool of virtual machines, for example) replaces one class.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from .device_figures import Figures
from .execution_request import ExecutionRequest, RequestKind, ScriptTerms

if TYPE_CHECKING:
    # The launcher, which forks zygotes, loads no asyncio.
    from .printed_text import PrintedText

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

SLOTS_MAX = 64
"""The settings refuse more slots than this."""
KEPT_SLOTS = 1
"""Slots in addition to those of jobs, reserved for interactive requests."""

PARKED_MAX = 8
"""Executions that may wait for an answer at once. Beyond it the oldest is killed, and its caller repeats the script."""
PARKED_BYTES_MAX = 2 * GIB
"""What they may hold together, in addition to the memory of the slots: each keeps its memory."""
EXECUTOR_BYTES = 2 * GIB
"""What the executor itself takes: the shell, two zygotes, confinements that wait, and a temporary folder in memory."""
PARKED_SECONDS = 60.0
"""How long an execution waits for its answer. Most answers take less; a script that waits in a quantum computer's queue
is cheaper to repeat than to keep in memory for hours."""
HOSTS_MAX = 16
"""Confinements that may wait for their job's next task at once, some 15 MiB each; beyond it the oldest is killed."""
HOST_SECONDS = 3.0
"""How long a confinement waits: the next task of a chain follows within some 20 ms."""
ASKS_MAX = 1_000
"""Requests that one execution may make, those answered from memory included: more would be an endless loop."""

Isolation = Literal["namespaces", "rootless", "uid", "landlock", "process"]
"""What separates an execution from the machine: namespaces and a user of its own, namespaces, a user of its own, only
an allow-list of files and filtered system calls, or nothing but limits."""

WITH_NAMESPACES: tuple[Isolation, ...] = ("namespaces", "rootless")
SHARED_USER: tuple[Isolation, ...] = ("rootless", "landlock", "process")
"""Kinds in which executions run as the executor's own user."""

ErrorCode = Literal["execution_error", "unsupported_operation", "language_not_detected", "no_circuit"]
"""The reasons why a job failed by its own fault."""

ZygoteSet = Literal["circuits", "frameworks"]
"""Which packages an execution finds imported: qiskit and the importers of OpenQASM, or those of all frameworks."""

_OTHER_FRAMEWORKS = re.compile(r"\b(?:cirq|pennylane|braket|marqov)\b")


@dataclass(frozen=True)
class JobParams:
    """The parameters of a job, parsed once from its request. `given` is all of them, as the user's code may read
    them. `noise_model` is complete; `noise_figures` are those of a device that it contains."""

    shots: int
    seed: int | None = None
    optimization_level: int = 1
    noise_model: dict[str, Any] | None = None
    noise_figures: Figures | None = None
    extract_state_vector: bool = False
    observables: list[str] = field(default_factory=list)
    observables_method: Literal["exact", "sampled"] | None = None
    mitigation: dict[str, Any] | None = None
    given: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Point:
    """One run of a sweep: its parameters, and its own circuit where the source does not stand for all. `warnings` and
    `circuit_facts` are those of the child that left the circuit."""

    params: JobParams
    source: dict[str, str] | None = None
    circuit_facts: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class FirstStage:
    """What the first of a job's two children contributes to the result; `framework` as the request named it."""

    framework: str
    execution_time_ms: float
    stdout: str
    warnings: list[str]


@dataclass(frozen=True)
class Script(ScriptTerms):
    """The terms of a script, and what only the caller and the shell need to know about it."""

    workflow_metadata: str | None = None
    """JSON of what the caller knows about the graphs that it ran; part of the result."""
    resume: str | None = None
    """The id of the parked execution to resume."""
    task_shots: list[int] | None = None
    """The different numbers of shots with which its tasks ran circuits, at most two; None where the caller does not
    say."""
    task_of: str | None = None
    """The caller's job to which `task` belongs: its tasks may share one confinement, one after the other."""

    @property
    def terms(self) -> ScriptTerms:
        """The part that the child needs."""
        return ScriptTerms(
            graphs=self.graphs,
            circuits=self.circuits,
            seed=self.seed,
            now=self.now,
            entry=self.entry,
            answers=self.answers,
            task=self.task,
            finish=self.finish,
        )


@dataclass(frozen=True)
class Job:
    """A job to execute. `source` is {kind: code, framework, code} or {kind: circuit, format, payload}; the shell passes
    it on unread."""

    run_id: str
    source: dict[str, str]
    backend: str
    engine: str
    max_qubits: int
    params: JobParams
    kind: RequestKind = "run"
    details: dict[str, Any] = field(default_factory=dict)
    """What a kind needs in addition to the source; see `ExecutionRequest.details`."""
    circuit_facts: dict[str, Any] = field(default_factory=dict)
    """What the first stage reported of a circuit that its text cannot say."""
    first_stage: FirstStage | None = None
    """The child whose code left this job's circuit."""
    points: list[Point] = field(default_factory=list)
    """The runs of a sweep, in order, each with all of its parameters. Empty for a single run."""
    script: Script = Script()
    files_url: str | None = None
    """Where the caller shows the files of the result."""
    owner: str = ""
    """Opaque: for whom it is executed. Short places are shared between owners; jobs without one share as one owner."""
    request_id: str | None = None
    """The request of a client that it belongs to, for the log only."""

    @property
    def named(self) -> dict[str, str]:
        """What names it in a log line. Its owner is the team."""
        of_others = {"team_id": self.owner, "request_id": self.request_id or ""}
        return {"run_id": self.run_id, **{name: value for name, value in of_others.items() if value}}

    @property
    def zygote(self) -> ZygoteSet:
        """Whose child executes it. A wrong guess only costs time: the child then imports what is missing."""
        if self.kind == "compile" and self.details["target"]["format"] in ("braket", "ahs"):
            return "frameworks"  # Braket's own interpreter reads the program back, or its validators check it.
        if self.script.circuits == "here" and (self.params.mitigation or {}).get("zne") is not None:
            return "frameworks"  # PennyLane folds and extrapolates.
        if self.kind in ("detect", "analyse") or self.source.get("framework", "openqasm") == "openqasm":
            return "circuits"
        return "frameworks" if _OTHER_FRAMEWORKS.search(self.source["code"]) else "circuits"

    def at(self, point: Point) -> Job:
        """The single run that a point of this sweep stands for."""
        return replace(
            self,
            params=point.params,
            source=point.source or self.source,
            circuit_facts=point.circuit_facts,
            points=[],
        )

    @property
    def runs_code(self) -> bool:
        """Whether the child runs code of the user, which can then write any message in the child's name."""
        return self.source["kind"] == "code" and self.source["framework"] != "openqasm"

    @property
    def execution_request(self) -> ExecutionRequest:
        """The message to the child."""
        return ExecutionRequest(
            kind=self.kind,
            source=self.source,
            backend=self.backend,
            max_qubits=self.max_qubits,
            shots=self.params.shots,
            optimization_level=self.params.optimization_level,
            engine=self.engine,
            seed=self.params.seed,
            noise_model=self.params.noise_model,
            extract_state_vector=self.params.extract_state_vector,
            observables=self.params.observables,
            observables_method=self.params.observables_method,
            mitigation=self.params.mitigation,
            params={**self.params.given, "backend": self.backend},
            details=self.details,
            circuit_facts=self.circuit_facts,
            script=self.script.terms,
            points=[_members_of(self.at(point).execution_request) for point in self.points],
        )


_OF_EACH_POINT = (
    "source",
    "shots",
    "optimization_level",
    "seed",
    "noise_model",
    "extract_state_vector",
    "observables",
    "observables_method",
    "mitigation",
    "params",
    "circuit_facts",
)


def _members_of(request: ExecutionRequest) -> dict[str, Any]:
    """What the request of a point may have for itself."""
    return {name: getattr(request, name) for name in _OF_EACH_POINT}


@dataclass(frozen=True)
class Limits:
    """Bounds of one execution. `memory_bytes` bounds the address space of the user's code, `engine_memory_bytes` (at
    least as much) that of the simulation. `output_bytes` of each output stream are kept; `flood_bytes` stop the
    execution. `start_seconds` bounds the wait for a child."""

    wall_seconds: float = 120.0
    memory_bytes: int = 4 * GIB
    engine_memory_bytes: int = 4 * GIB
    output_bytes: int = 256 * KIB
    flood_bytes: int = 16 * MIB
    result_bytes: int = 16 * MIB
    start_seconds: float = 30.0


@dataclass(frozen=True)
class Completed:
    """The execution produced a result. `result` is its JSON text: integers may exceed the range of a double."""

    execution_time_ms: float | None
    """None for a point of a sweep."""
    result: str
    artifacts: list[Artifact] = field(default_factory=list)


@dataclass(frozen=True)
class Returned:
    """A task of a graph returned. `result` is its value as exact JSON text, with pickles in the SDK's envelopes;
    `display` is the same for people, or None with the reason in `display_problem`."""

    execution_time_ms: float
    result: str
    display: str | None
    display_problem: str | None
    stdout: str
    device_shots: list[int]
    """Up to two different numbers of shots with which it ran circuits."""


@dataclass(frozen=True)
class Asked:
    """The execution requests something from its caller. `ask` is checked; `parked`: its child waits for the answer."""

    execution_time_ms: float
    ask: dict[str, Any]
    parked: bool
    stdout: str


@dataclass(frozen=True)
class Failed:
    """The execution failed by its own fault: an exception, a limit, a crash, something that cannot be translated."""

    execution_time_ms: float
    code: ErrorCode
    message: str
    line: int | None = None
    stdout: str = ""


@dataclass(frozen=True)
class Lost:
    """The executor lost the execution, by no fault of the job; another attempt may succeed. `shut_down`: it was killed
    because the executor stops, so nothing is wrong with either."""

    message: str
    shut_down: bool = False


@dataclass(frozen=True)
class CircuitLeft:
    """The code left a circuit, which a second child executes without any code of the user. `openqasm3` and `facts` are
    as the first child reported them."""

    execution_time_ms: float
    openqasm3: str
    facts: dict[str, Any]
    warnings: list[str]
    stdout: str


@dataclass(frozen=True)
class PointsRun:
    """The first points of a sweep, as many as the execution had time and room for, each with its own outcome. Their
    times are not known one by one, and what they printed stands together."""

    execution_time_ms: float
    points: list[Completed | Failed | CircuitLeft]
    stdout: str


@dataclass(frozen=True)
class QuestionAnswer:
    """The answer to a kind of request that gives no counts."""

    execution_time_ms: float
    fields: dict[str, Any]


@dataclass(frozen=True)
class Artifact:
    """A file in addition to the result."""

    name: str
    media_type: str
    content: bytes


Outcome = Completed | Returned | Asked | CircuitLeft | PointsRun | QuestionAnswer | Failed | Lost

OUTCOME_NAMES: dict[type[Outcome], str] = {
    Completed: "completed",
    Returned: "completed",
    Asked: "asked",
    CircuitLeft: "found",
    PointsRun: "completed",
    QuestionAnswer: "told",
    Failed: "failed",
    Lost: "lost",
}
"""An outcome in one word, as metrics and logs show it; dashboards depend on these words."""


class SandboxBusy(Exception):
    """No slot is free; nothing was started."""


class SandboxDraining(SandboxBusy):
    """The executor finishes what it runs and then stops; nothing was started, and another executor has to."""


class SandboxFault(Exception):
    """No child took the job, by the executor's own fault; nothing of the job was executed."""


class NotParked(Exception):
    """The execution to resume does not wait here: it was never parked, has finished, or was resumed already."""


class WrongAnswer(Exception):
    """The answer does not fit the parked execution's request; the execution still waits. The message says for what."""


class SandboxInsecure(SandboxFault):
    """No adequate isolation works on this machine, so nothing is executed; the message says why and how to fix it."""


@dataclass
class SandboxFacts:
    """The sandbox's present state, for the health response."""

    level: str
    note: str
    isolation: str
    slots_total: int
    slots_running: int
    draining: bool = False
    parked: int = 0
    """Executions that wait for an answer and hold no slot."""
    parkings: dict[str, int] = field(default_factory=dict)
    """How many have stopped waiting so far, by reason: resumed, expired, displaced, died."""
    selftest: list[dict[str, Any]] = field(default_factory=list)
    cgroup: str = "none"
    landlock_abi: int = 0
    seccomp: bool = False
    zygotes: list[dict[str, Any]] = field(default_factory=list)
    problem: str = ""
    """Why no adequate isolation works here, and how to fix it; jobs are then refused, or not isolated."""
    warning: str = ""
    """The warning that every result carries while executions are not isolated."""

    @property
    def status(self) -> Literal["ok", "degraded", "draining", "insecure"]:
        """`draining`: no job is taken, and the last executions are finished. `degraded`: one set of packages has no
        zygote at the moment, or a killed execution has not died."""
        if self.level == "none":
            return "insecure"
        if self.draining:
            return "draining"
        impaired = any(zygote["state"] == "down" or zygote["given_up"] > 0 for zygote in self.zygotes)
        return "degraded" if impaired else "ok"


class Sandbox(Protocol):
    """Executes jobs. Cancelling the `run` coroutine kills the execution and returns once nothing of it is alive."""

    async def start(self) -> None:
        """Tries which isolation this machine offers. Where it offers too little, jobs are refused."""

    async def run(
        self, job: Job, limits: Limits, accepted: Callable[[], None], printed: PrintedText | None = None
    ) -> Outcome:
        """Executes one job; calls `accepted` when a child has taken it, and collects in `printed` what it prints.
        Raises SandboxBusy at once when no slot is free, SandboxFault when no child took the job, and SandboxInsecure
        where no isolation works; nothing was executed then. A job that resumes a parked execution requires that the
        caller holds it; WrongAnswer and NotParked then mean the same."""

    async def prepare(self, job: Job, limits: Limits) -> None:
        """Waits until the packages of a job are imported, which the first job that needs them sets off, for at most
        `limits.start_seconds`. Raises SandboxFault when they are not; a later call may find them. `run` does this
        too: a caller that measures a job's time keeps the wait apart by this."""

    def hold(self, run_id: str) -> AbstractContextManager[Job]:
        """The job of a parked execution. While the caller holds it, the execution does not expire and belongs to this
        caller alone. Raises NotParked. If it is still parked when the caller releases it, it continues to wait."""

    def facts(self) -> SandboxFacts:
        """The present state and how many executions are alive."""

    def drain(self) -> None:
        """Takes no more jobs, only the second stage of a job that has started; executions that wait for an answer are
        killed, since their callers can repeat them elsewhere."""

    async def close(self) -> None:
        """Stops every execution as lost and takes no more."""
