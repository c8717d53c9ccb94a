"""The engines of this executor, listed by a child: looking for a GPU may start threads, and a zygote with threads
cannot be forked."""

from __future__ import annotations

from ..execution_request import ENGINES
from ..job import Job, JobParams, Limits, QuestionAnswer, Sandbox, SandboxBusy, SandboxFault

WALL_SECONDS = 20.0


class Engines:
    """The engines of one sandbox, found out once. `offered`: those that the operator lets this executor offer."""

    def __init__(self, sandbox: Sandbox, offered: tuple[str, ...] = ENGINES) -> None:
        self._sandbox = sandbox
        self._on_cpu = tuple(name for name in offered if not name.startswith("gpu_"))
        self._offered = offered
        self._found: list[str] | None = None

    async def names(self) -> list[str]:
        """The engines that can be used here; only those of the CPU until a child has listed them."""
        if self._found is None and len(self._on_cpu) < len(self._offered):
            self._found = await self._query()
        return list(self._on_cpu) if self._found is None else self._found

    async def has(self, name: str) -> bool:
        """Whether runs can use this engine here."""
        return name in self._on_cpu or name in await self.names()

    async def _query(self) -> list[str] | None:
        job = Job(
            run_id="engines",
            source={"kind": "code", "framework": "openqasm", "code": ""},
            backend="local",
            engine="statevector",
            max_qubits=1,
            params=JobParams(shots=1),
            kind="engines",
        )
        try:
            outcome = await self._sandbox.run(job, Limits(wall_seconds=WALL_SECONDS), lambda: None)
        except (SandboxBusy, SandboxFault):
            return None
        if not isinstance(outcome, QuestionAnswer):
            return None
        return [name for name in self._offered if name in self._on_cpu or name in outcome.fields["engines"]]
