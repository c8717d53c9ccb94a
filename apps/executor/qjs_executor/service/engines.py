"""Which engines this executor has, asked of a child: looking for a GPU may start what no zygote can be forked with."""

from __future__ import annotations

from ..job import Job, Limits, QuestionAnswer, Sandbox, SandboxBusy, SandboxFault
from .run_request import ENGINES

WALL_SECONDS = 20.0
ON_CPU = tuple(name for name in ENGINES if not name.startswith("gpu_"))


class Engines:
    """The engines of one sandbox, found out once."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._found: list[str] | None = None

    async def names(self) -> list[str]:
        """What can be run here; those of the CPU alone for as long as no child can say."""
        if self._found is None:
            self._found = await self._ask()
        return list(ON_CPU) if self._found is None else self._found

    async def _ask(self) -> list[str] | None:
        job = Job(
            run_id="engines",
            source={"kind": "code", "framework": "openqasm", "code": ""},
            backend="local",
            engine="statevector",
            max_qubits=1,
            params={"shots": 1},
            task="engines",
        )
        try:
            outcome = await self._sandbox.run(job, Limits(wall_seconds=WALL_SECONDS), lambda: None)
        except (SandboxBusy, SandboxFault):
            return None
        if not isinstance(outcome, QuestionAnswer):
            return None
        return [name for name in ENGINES if name in ON_CPU or name in outcome.fields["engines"]]
