"""The engines of this executor, listed by a child: looking for a GPU may start threads, and a zygote with threads
cannot be forked."""

from __future__ import annotations

from ..job import Job, JobParams, Limits, QuestionAnswer, Sandbox, SandboxBusy, SandboxFault
from .run_request import ENGINES

WALL_SECONDS = 20.0
ON_CPU = tuple(name for name in ENGINES if not name.startswith("gpu_"))


class Engines:
    """The engines of one sandbox, found out once."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._found: list[str] | None = None

    async def names(self) -> list[str]:
        """The engines that can be used here; only those of the CPU until a child has listed them."""
        if self._found is None:
            self._found = await self._query()
        return list(ON_CPU) if self._found is None else self._found

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
        return [name for name in ENGINES if name in ON_CPU or name in outcome.fields["engines"]]
