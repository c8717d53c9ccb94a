"""The seam between the HTTP side and whatever isolates a run.

A sandbox takes a job, runs it where it can hurt nobody, and returns an outcome. It is the only way by which user
code is reached, so another isolation (a pool of prepared children, a virtual machine) replaces one class.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

SLOTS_MAX = 64
"""More slots than this are refused when the settings are read."""
KEPT_SLOTS = 1
"""Slots beside those of the jobs, which only interactive runs use."""

PARKED_MAX = 8
"""Runs that may wait for an answer at the same time. Each keeps its memory, so beside the slots' this many times the
memory of a run may be in use; beyond it the oldest is ended, and its caller runs the script again with its answers."""
PARKED_SECONDS = 60.0
"""How long a run waits for its answer. Most answers take less; what waits for a quantum computer's queue is cheaper to
run again than to hold memory for hours."""
HOSTS_MAX = 16
"""Confinements that may wait for the next task of their job at the same time; beyond it the oldest is ended. Each holds
some 15 MiB."""
HOST_SECONDS = 3.0
"""How long one waits: the next task of a chain comes within some 20 ms."""
ASKS_MAX = 1_000
"""What one run may ask, answers that are remembered included: more would be a loop without an end."""

Isolation = Literal["namespaces", "rootless", "uid", "landlock", "process"]
"""What separates a run from the machine: namespaces and a user of its own, namespaces, a user of its own, only an
allow-list of files and filtered system calls, or nothing but limits."""

WITH_NAMESPACES: tuple[Isolation, ...] = ("namespaces", "rootless")
SHARED_USER: tuple[Isolation, ...] = ("rootless", "landlock", "process")
"""Whose runs have the executor's own user."""


ErrorCode = Literal["execution_error", "unsupported_operation", "language_not_detected", "no_circuit"]
"""What a job that fails by its own fault says."""


Task = Literal["run", "convert", "compile", "analyse", "capture", "detect", "engines"]
"""What is wanted of a source: its counts, its canonical OpenQASM 3, its form for a provider, what kind of script it
is, the graph of its workflow's tasks, or its framework. `engines` asks which engines there are, whatever the source."""


ZygoteSet = Literal["circuits", "frameworks"]
"""Which packages a run finds loaded: qiskit and the importers of OpenQASM, or those of the other frameworks too."""


@dataclass(frozen=True)
class FirstStage:
    """What the first of a job's two children leaves to the answer; `framework` as it was asked for."""

    framework: str
    execution_time_ms: float
    stdout: str
    warnings: list[str]


_OTHER_FRAMEWORKS = re.compile(r"\b(?:cirq|pennylane|braket|marqov)\b")


Where = Literal["here", "ask"]
"""Who does what a script wants done: the child itself, or the caller, of whom it is asked."""


@dataclass(frozen=True)
class Script:
    """How a run deals with graphs of tasks and with the circuits of its device, and what it is run for beside its
    source. Texts are JSON that only the child reads. At most one of `entry`, `task` and `finish` is there."""

    graphs: Where = "here"
    circuits: Where = "here"
    seed: int | None = None
    """With `now`, in seconds since 1970: where randomness and the clock begin, so that a second run asks the same."""
    now: float | None = None
    entry: dict[str, Any] | None = None
    """{model, entrypoint, input}: what is called with what."""
    answers: list[dict[str, Any]] = field(default_factory=list)
    """To what was asked before, in order; of a run that goes on, the one that it waits for."""
    task: dict[str, Any] | None = None
    """{function, name, arguments, values}: one task of a graph is run instead of the source."""
    finish: dict[str, Any] | None = None
    """{name, output, values}: the result is made of what a workflow returns, and no code is run."""
    workflow_metadata: str | None = None
    """JSON of what the caller knows of the graphs that it has run; part of the result."""
    resume: str | None = None
    """The id of a parked run, which goes on."""
    task_of: str | None = None
    """The caller's job to which `task` belongs: its tasks may follow each other in one confinement."""

    @property
    def may_ask(self) -> bool:
        """Whether the child keeps a channel on which answers come."""
        return self.finish is None and "ask" in (self.graphs, self.circuits)


@dataclass(frozen=True)
class Job:
    """What to run. `source` is {kind: code, framework, code} or {kind: circuit, format, payload}; it is passed on
    unread. `params` holds `shots` and whatever else the user's code may read."""

    run_id: str
    source: dict[str, str]
    backend: str
    engine: str
    max_qubits: int
    params: dict[str, Any]
    task: Task = "run"
    request: dict[str, Any] = field(default_factory=dict)
    """What the task wants beside the source: a `compile` its target, an `analyse` the requirements, a `capture` the
    entrypoint and its arguments."""
    circuit_facts: dict[str, Any] = field(default_factory=dict)
    """What an earlier child told of the circuit that its text cannot say: shown register names, observables."""
    earlier: FirstStage | None = None
    """The child that ran the code of which this job's circuit is left."""
    script: Script = Script()

    @property
    def zygote(self) -> ZygoteSet:
        """Whose child runs it. A wrong guess costs only time: the child then imports what is missing."""
        if self.task == "compile" and self.request["target"]["format"] == "braket":
            return "frameworks"  # Whose own interpreter reads the program back.
        if self.task in ("detect", "analyse") or self.source.get("framework", "openqasm") == "openqasm":
            return "circuits"
        return "frameworks" if _OTHER_FRAMEWORKS.search(self.source["code"]) else "circuits"

    @property
    def shots(self) -> int:
        """How many shots the job asks for; the request parser has checked the type and range."""
        return int(self.params["shots"])


@dataclass(frozen=True)
class Limits:
    """Bounds of one run. `memory_bytes` bounds the address space of the user's code, `engine_memory_bytes` (at least
    as much) that of the simulation; `output_bytes` of each output stream are kept, `flood_bytes` end the run."""

    wall_seconds: float = 120.0
    memory_bytes: int = 4 * GIB
    engine_memory_bytes: int = 4 * GIB
    output_bytes: int = 256 * KIB
    flood_bytes: int = 16 * MIB
    result_bytes: int = 16 * MIB
    start_seconds: float = 30.0


@dataclass(frozen=True)
class Completed:
    """The run produced a result. `result` is its JSON text: integers may exceed what a double can hold."""

    execution_time_ms: float
    result: str
    artifacts: list[Artifact] = field(default_factory=list)


@dataclass(frozen=True)
class Returned:
    """A task of a graph returned. `result` is its value as JSON text, exact, with pickles in the SDK's envelopes;
    `display` the same for people, or None and why."""

    execution_time_ms: float
    result: str
    display: str | None
    display_problem: str | None
    stdout: str


@dataclass(frozen=True)
class Asked:
    """The run wants something of its caller. `ask` is checked; `parked`: its child waits for the answer."""

    execution_time_ms: float
    ask: dict[str, Any]
    parked: bool
    stdout: str


@dataclass(frozen=True)
class Failed:
    """The run ended by its own fault: an exception, a limit, a crash, something that cannot be translated."""

    execution_time_ms: float
    code: ErrorCode
    message: str
    line: int | None = None
    stdout: str = ""


@dataclass(frozen=True)
class Lost:
    """The executor lost the run without the run's fault; another attempt may succeed."""

    message: str


@dataclass(frozen=True)
class CircuitLeft:
    """The code left a circuit that another child, which runs no code, has to run. `openqasm3` and `facts` are as the
    code's child told them."""

    execution_time_ms: float
    openqasm3: str
    facts: dict[str, Any]
    warnings: list[str]
    stdout: str


@dataclass(frozen=True)
class QuestionAnswer:
    """The answer to a task that gives no counts."""

    execution_time_ms: float
    fields: dict[str, Any]


@dataclass(frozen=True)
class Artifact:
    """A file that a run leaves beside its result."""

    name: str
    media_type: str
    content: bytes


Outcome = Completed | Returned | Asked | CircuitLeft | QuestionAnswer | Failed | Lost


class SandboxBusy(Exception):
    """No slot is free; nothing was started."""


class SandboxFault(Exception):
    """No child took the job, by the executor's own fault; nothing of the job was run."""


class NotParked(Exception):
    """The run that is to go on does not wait here: it never did, has ended, or goes on already."""


class WrongAnswer(Exception):
    """That is no answer to what the parked run has asked; it still waits. The message says which it waits for."""


class SandboxInsecure(SandboxFault):
    """No adequate isolation works on this machine, so nothing is run; the message says why and how to mend it."""


@dataclass
class SandboxFacts:
    """What holds at present, for the health answer."""

    level: str
    note: str
    isolation: str
    slots_total: int
    slots_running: int
    parked: int = 0
    """Runs that wait for an answer and hold no slot."""
    parkings: dict[str, int] = field(default_factory=dict)
    """How many have left their place so far, by why: resumed, expired, displaced, died."""
    selftest: list[dict[str, Any]] = field(default_factory=list)
    cgroup: str = "none"
    landlock_abi: int = 0
    seccomp: bool = False
    zygotes: list[dict[str, Any]] = field(default_factory=list)
    problem: str = ""
    """Why no adequate isolation works here, and how to mend it; runs are then refused, or not isolated."""
    warning: str = ""
    """What every result has to say, as long as runs are not isolated."""


class Sandbox(Protocol):
    """Runs jobs. Cancelling the `run` coroutine kills the run and returns once nothing of it is alive."""

    async def start(self) -> None:
        """Finds out what isolation this machine gives, by trying it. Where it gives too little, runs are refused."""

    async def run(self, job: Job, limits: Limits, accepted: Callable[[], None]) -> Outcome:
        """Runs one job; calls `accepted` when a child has taken it. Raises SandboxBusy at once when no slot is free,
        SandboxFault when no child took the job, and SandboxInsecure where no isolation works; all mean that nothing was
        run. Where the job goes on with a parked run, that run is held; WrongAnswer and NotParked then mean the same."""

    def hold(self, run_id: str) -> AbstractContextManager[Job]:
        """The job of a parked run, which is kept from expiring, and for the caller alone. Raises NotParked. When it is
        left and the run is still parked, that waits on."""

    def facts(self) -> SandboxFacts:
        """What holds and how many runs are alive."""

    async def close(self) -> None:
        """Ends every run as lost and takes no more."""
