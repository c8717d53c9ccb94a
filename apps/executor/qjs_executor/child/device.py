"""The `device` that user code may run circuits on: the job's own backend, in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..execution_request import SHOTS_MAX
from .refusals import JobError


@dataclass(frozen=True)
class DeviceRun:
    """A circuit that the code ran on the device; `answer` has the fields of an execution's answer, `shots` as
    requested."""

    answer: dict[str, Any]
    shots: int


class Device:
    """Runs circuits of every framework on the job's backend. `last` is the latest run."""

    def __init__(self, backend: str, shots: int, run: Callable[[Any, int], dict[str, Any]]) -> None:
        self.backend = backend
        self.shots = shots
        self.last: DeviceRun | None = None
        self._run = run

    def run(self, circuit: Any, shots: int | None = None) -> dict[str, int]:
        """Counts by bit string, qubit 0 leftmost. Raises JobError for shots out of range or a value that is not a
        circuit."""
        wanted = self.shots if shots is None else shots
        if isinstance(wanted, bool) or not isinstance(wanted, int) or not 1 <= wanted <= SHOTS_MAX:
            raise JobError(f"device.run: shots must be an integer from 1 to {SHOTS_MAX} (got {wanted!r})")
        answer = self._run(circuit, wanted)
        self.last = DeviceRun(answer, wanted)
        return dict(answer["counts"])

    def __repr__(self) -> str:
        return f"<device {self.backend}>"
