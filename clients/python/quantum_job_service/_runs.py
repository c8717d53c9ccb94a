"""What the plugins share: many circuits as one job where the service has sweeps, and counts as single shots."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .client import Client, Job
from .errors import Refused
from .results import Register, Result, SweepResult
from .submissions import OF_A_PLUGIN, Circuit, check_known, in_sweeps


def options_of_jobs(backend: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of each job that a plugin submits. Raises TypeError for one that a submission does not have, and for
    one that the framework's calls have."""
    check_known(options, OF_A_PLUGIN)
    return {"backend": backend, **options}


def run_all(client: Client, circuits: Sequence[Circuit], **options: Any) -> list[Result]:
    """The result of each circuit: of a sweep, or several where one would be too large; of single jobs on a backend
    without sweeps. Raises JobFailed for the first circuit that failed."""
    return Submitted(client, circuits, **options).results()


class Submitted:
    """Circuits whose jobs are under way; ``jobs`` has one for each circuit, the same one for those of a sweep."""

    def __init__(self, client: Client, circuits: Sequence[Circuit], **options: Any) -> None:
        together = len(circuits) > 1 and client.takes_sweeps(options.get("backend", "local"))
        groups = in_sweeps(circuits) if together else [[one] for one in circuits]
        submitted = [(_submit(client, group, options), len(group)) for group in groups]
        self.jobs: list[Job] = [job for job, size in submitted for _ in range(size)]
        self._places = [place for _, size in submitted for place in range(size)]
        self._read: dict[str, Result | SweepResult] = {}

    def result(self, number: int) -> Result:
        """The result of a circuit, once it is there. Raises JobFailed."""
        job = self.jobs[number]
        if job.id not in self._read:
            self._read[job.id] = job.result()
        result = self._read[job.id]
        return result.result_of(self._places[number]) if isinstance(result, SweepResult) else result

    def results(self) -> list[Result]:
        """All results, once they are there. Raises JobFailed for the first circuit that failed."""
        return [self.result(number) for number in range(len(self.jobs))]


def _submit(client: Client, group: Sequence[Circuit], options: Mapping[str, Any]) -> Job:
    if len(group) > 1:
        return client.submit(circuits=group, **options)
    [one] = group
    # As in a sweep, what the circuit has itself counts.
    shared = {name: value for name, value in options.items() if name not in one.params}
    own = {**shared, "params": {**options.get("params", {}), **one.params}}
    return client.submit(one.text, **own)


def shots_of(result: Result) -> npt.NDArray[np.uint8]:
    """The bits of each shot, a row for each, in the order of the keys. The service gives counts; since shots are
    independent, any order of them is as likely as the one in which they were taken. This one depends on nothing but the
    counts, so a seed still gives the same shots."""
    counts = result.counts
    if counts is None:
        raise Refused("unsupported_operation", "the job gave no counts")
    keys = sorted(counts)
    rows = np.array([[character == "1" for character in key] for key in keys], dtype=np.uint8).reshape(len(keys), -1)
    order: npt.NDArray[np.int64] = np.repeat(np.arange(len(keys)), [counts[key] for key in keys])
    digest = hashlib.sha256(repr([(key, counts[key]) for key in keys]).encode()).digest()
    np.random.default_rng(list(digest)).shuffle(order)
    return rows[order]


def places_of(registers: Sequence[Register]) -> dict[str, slice]:
    """Where the bits of each register stand in the keys."""
    places: dict[str, slice] = {}
    start = 0
    for register in registers:
        places[register.name] = slice(start, start + register.size)
        start += register.size
    return places


STATE_QUBITS_MAX = 14
"""The widest state that stands in a result."""


def state_of(result: Result) -> npt.NDArray[np.complex128]:
    """The amplitudes of a run with `extract_state_vector`; qubit 0 is the most significant bit of the index."""
    pairs = np.array(result.raw["state_vector"], dtype=np.float64)
    amplitudes: npt.NDArray[np.complex128] = pairs[:, 0] + 1j * pairs[:, 1]
    return amplitudes
