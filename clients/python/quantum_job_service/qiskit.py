"""Qiskit: a ``BackendV2``, and a ``SamplerV2`` and ``EstimatorV2`` with results as Qiskit's own, its bit order
included."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from qiskit import ClassicalRegister, QuantumCircuit
from qiskit.primitives import (
    BaseEstimatorV2,
    BaseSamplerV2,
    BitArray,
    DataBin,
    PrimitiveJob,
    PrimitiveResult,
    PubResult,
    SamplerPubResult,
)
from qiskit.primitives.containers.estimator_pub import EstimatorPub
from qiskit.primitives.containers.sampler_pub import SamplerPub
from qiskit.providers import BackendV2, JobStatus, JobV1, Options
from qiskit.result import Result as QiskitResult
from qiskit.transpiler import Target

from ._qiskit_text import TERMS_MAX, pauli_sum, target_of, text_of
from ._runs import Submitted, options_of_jobs, places_of, run_all, shots_of
from .client import Client
from .errors import unsupported
from .results import Result
from .submissions import Circuit

OBSERVABLES_MAX = 100
"""Of one job or point; docs/observables.md."""


class RemoteBackend(BackendV2):
    """A backend of the service: ``transpile(circuit, backend)`` and ``backend.run(circuit, shots=...)``."""

    def __init__(self, name: str = "local", client: Client | None = None, **job_options: Any) -> None:
        """``job_options`` are those of ``Client.submit``, such as ``team_id`` or ``max_cost_usd``."""
        self.client = client or Client()
        self.job_options = options_of_jobs(name, job_options)
        entry = self.client.backend(name)
        super().__init__(name=name, description=entry["description"], backend_version="1")
        qubits = entry["maxQubits"] or entry["qubitCount"]
        self._target = target_of(qubits, simulator=entry["deviceType"] == "simulator")

    @property
    def target(self) -> Target:
        return self._target

    @property
    def max_circuits(self) -> int | None:
        return None

    @classmethod
    def _default_options(cls) -> Options:
        return Options(shots=1024, seed_simulator=None, memory=False)

    def run(self, run_input: QuantumCircuit | list[QuantumCircuit], **options: Any) -> RemoteJob:
        """Submits circuits, as one job where the service has sweeps. ``shots``, ``seed_simulator``, ``memory``."""
        circuits = [run_input] if isinstance(run_input, QuantumCircuit) else list(run_input)
        unknown = set(options) - set(self.options)
        if unknown:
            raise unsupported(f"options {sorted(unknown)} are not known: {sorted(self.options)}")
        return RemoteJob(self, circuits, {**self.options, **options})

    def sampler(self, **options: Any) -> RemoteSampler:
        """A ``SamplerV2`` on this backend."""
        return RemoteSampler(self, **options)

    def estimator(self, **options: Any) -> RemoteEstimator:
        """An ``EstimatorV2`` on this backend."""
        return RemoteEstimator(self, **options)


class RemoteJob(JobV1):
    """Circuits that a backend runs; ``jobs`` are those of the service."""

    def __init__(self, backend: RemoteBackend, circuits: list[QuantumCircuit], options: Mapping[str, Any]) -> None:
        self._circuits = circuits
        self._options = options
        seed = options["seed_simulator"]
        texts = [Circuit(text_of(circuit)) for circuit in circuits]
        self._submitted = Submitted(
            backend.client, texts, shots=options["shots"], **_seeded(seed), **backend.job_options
        )
        self.jobs = list({job.id: job for job in self._submitted.jobs}.values())
        super().__init__(backend, self.jobs[0].id if self.jobs else "")

    def submit(self) -> None:
        """The constructor has submitted it."""

    def result(self) -> QiskitResult:
        """Counts as of any backend: hexadecimal, bit 0 rightmost."""
        results = self._submitted.results()
        experiments = [
            _experiment(circuit, result, self._options["memory"])
            for circuit, result in zip(self._circuits, results, strict=True)
        ]
        return QiskitResult.from_dict(
            {
                "backend_name": self.backend().name,
                "backend_version": "1",
                "job_id": self.job_id(),
                "success": True,
                "results": experiments,
            }
        )

    def status(self) -> JobStatus:
        """Of the first job that is not done."""
        for job in self.jobs:
            status = _STATUSES[job.status()]
            if status is not JobStatus.DONE:
                return status
        return JobStatus.DONE

    def cancel(self) -> None:
        """Asks for the end of all jobs that have none yet."""
        for job in self.jobs:
            if _STATUSES[job.status()] in (JobStatus.QUEUED, JobStatus.RUNNING):
                job.cancel()


class RemoteSampler(BaseSamplerV2):
    """``SamplerV2``: pubs of circuits with parameters, broadcast as by Qiskit's own."""

    def __init__(self, backend: RemoteBackend, *, default_shots: int = 1024, seed: int | None = None) -> None:
        self._backend = backend
        self.default_shots = default_shots
        self.seed = seed

    def run(self, pubs: Iterable[Any], *, shots: int | None = None) -> PrimitiveJob[PrimitiveResult[SamplerPubResult]]:
        coerced = [SamplerPub.coerce(pub, shots or self.default_shots) for pub in pubs]
        job = PrimitiveJob(self._run, coerced)
        job._submit()
        return job

    def _run(self, pubs: list[SamplerPub]) -> PrimitiveResult[SamplerPubResult]:
        circuits = [
            Circuit(text_of(bound), {"shots": pub.shots, **_seeded(self.seed)})
            for pub in pubs
            for bound in pub.parameter_values.bind_all(pub.circuit).ravel()
        ]
        results = iter(run_all(self._backend.client, circuits, **self._backend.job_options))
        return PrimitiveResult([self._of_pub(pub, results) for pub in pubs], metadata={"version": 2})

    def _of_pub(self, pub: SamplerPub, results: Any) -> SamplerPubResult:
        registers = pub.circuit.cregs
        arrays = {
            register.name: np.zeros((*pub.shape, pub.shots, -(-register.size // 8)), dtype=np.uint8)
            for register in registers
        }
        for index in np.ndindex(*pub.shape):
            result = next(results)
            for register in registers:
                arrays[register.name][index] = np.packbits(_bits(register, result), axis=-1)
        data = {register.name: BitArray(arrays[register.name], register.size) for register in registers}
        metadata = {"shots": pub.shots, "circuit_metadata": pub.circuit.metadata}
        return SamplerPubResult(DataBin(**data, shape=pub.shape), metadata=metadata)


class RemoteEstimator(BaseEstimatorV2):
    """``EstimatorV2``. Precision 0, the default, is exact, and refused by backends without a state; any other is the
    standard error that 1/precision² shots give at worst."""

    def __init__(self, backend: RemoteBackend, *, default_precision: float = 0.0, seed: int | None = None) -> None:
        self._backend = backend
        self.default_precision = default_precision
        self.seed = seed

    def run(self, pubs: Iterable[Any], *, precision: float | None = None) -> PrimitiveJob[PrimitiveResult[PubResult]]:
        wanted = self.default_precision if precision is None else precision
        job = PrimitiveJob(self._run, [EstimatorPub.coerce(pub, wanted) for pub in pubs])
        job._submit()
        return job

    def _run(self, pubs: list[EstimatorPub]) -> PrimitiveResult[PubResult]:
        planned = [_Estimate(pub, self.seed) for pub in pubs]
        circuits = [circuit for one in planned for circuit in one.circuits]
        results = iter(run_all(self._backend.client, circuits, **self._backend.job_options))
        return PrimitiveResult([one.result(results) for one in planned], metadata={"version": 2})


class _Estimate:
    """The circuits of a pub: each value of the parameters with those of the observables that are broadcast to it."""

    def __init__(self, pub: EstimatorPub, seed: int | None) -> None:
        self._pub = pub
        shape = pub.parameter_values.shape
        numbers = np.arange(math.prod(shape)).reshape(shape)
        # Broadcasting as in Qiskit's own estimators: elements of both arrays, paired.
        paired, observables = np.broadcast_arrays(numbers, pub.observables)
        self._shape = paired.shape
        self._wanted: list[tuple[int, str]] = [
            (int(paired[index]), pauli_sum(observables[index])) for index in np.ndindex(*self._shape)
        ]
        bound = pub.parameter_values.bind_all(pub.circuit).ravel()
        # Exact values take no shots; the counts beside them are one shot's.
        shots = {"shots": 1 if pub.precision == 0 else math.ceil(1 / pub.precision**2)}
        method = "exact" if pub.precision == 0 else "sampled"
        self._groups: list[list[tuple[int, str]]] = _grouped(self._wanted)
        self.circuits = [
            Circuit(
                text_of(bound[group[0][0]]),
                {"observables": [text for _, text in group], "observables_method": method, **shots, **_seeded(seed)},
            )
            for group in self._groups
        ]
        self._shots = shots if pub.precision else {}

    def result(self, results: Any) -> PubResult:
        """From the results of its circuits, the next ones."""
        values: dict[tuple[int, str], tuple[float, float]] = {}
        for group in self._groups:
            result = next(results)
            for wanted, got in zip(group, result.expectation_values, strict=True):
                values[wanted] = (got.value, math.nan if got.standard_error is None else got.standard_error)
        both = np.array([values[wanted] for wanted in self._wanted], dtype=np.float64).reshape(*self._shape, 2)
        data = DataBin(evs=both[..., 0], stds=both[..., 1], shape=self._shape)
        metadata = {
            "target_precision": self._pub.precision,
            **self._shots,
            "circuit_metadata": self._pub.circuit.metadata,
        }
        return PubResult(data, metadata=metadata)


def _grouped(wanted: list[tuple[int, str]]) -> list[list[tuple[int, str]]]:
    """Pairs of a parameter's place and an observable, each once, those of one place together as far as one job goes."""
    groups: list[list[tuple[int, str]]] = []
    terms = 0
    for pair in sorted(set(wanted)):
        own = pair[1].count("*")
        full = not groups or len(groups[-1]) == OBSERVABLES_MAX or terms + own > TERMS_MAX
        if full or groups[-1][0][0] != pair[0]:
            groups.append([])
            terms = 0
        groups[-1].append(pair)
        terms += own
    return groups


def _bits(register: ClassicalRegister, result: Result) -> np.ndarray[Any, Any]:
    """The bits of a register, shot by shot, as Qiskit packs them: bit 0 last, filled up to whole bytes from the left. A
    register that nothing writes is 0."""
    shots = shots_of(result)
    place = places_of(result.registers).get(register.name)
    bits = np.zeros((len(shots), register.size), dtype=np.uint8) if place is None else shots[:, place]
    padded: np.ndarray[Any, Any] = np.pad(bits[:, ::-1], ((0, 0), (-register.size % 8, 0)))
    return padded


def _experiment(circuit: QuantumCircuit, result: Result, memory: bool) -> dict[str, Any]:
    """The part of a circuit in a result of Qiskit: the value of all classical bits of its registers, bit 0 lowest."""
    shots = shots_of(result)
    places = places_of(result.registers)
    columns = np.zeros((len(shots), circuit.num_clbits), dtype=np.uint8)
    for register in circuit.cregs:
        if register.name in places:
            indices = [circuit.find_bit(bit).index for bit in register]
            columns[:, indices] = shots[:, places[register.name]]
    values = [hex(int("".join(map(str, row[::-1])) or "0", 2)) for row in columns]
    names, counts = np.unique(values, return_counts=True)
    return {
        "shots": len(shots),
        "success": True,
        "status": "DONE",
        "data": {
            "counts": dict(zip(names.tolist(), counts.tolist(), strict=True)),
            **({"memory": values} if memory else {}),
        },
        "header": {
            "name": circuit.name,
            "creg_sizes": [[register.name, register.size] for register in circuit.cregs],
            "memory_slots": circuit.num_clbits,
            "n_qubits": circuit.num_qubits,
            "metadata": circuit.metadata or {},
        },
    }


def _seeded(seed: int | None) -> dict[str, int]:
    return {} if seed is None else {"seed": seed}


_STATUSES = {
    "pending": JobStatus.QUEUED,
    "running": JobStatus.RUNNING,
    "cancelling": JobStatus.RUNNING,
    "completed": JobStatus.DONE,
    "cancelled": JobStatus.CANCELLED,
    "failed": JobStatus.ERROR,
    "dispatch_failed": JobStatus.ERROR,
}
