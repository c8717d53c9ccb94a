"""Amazon Braket: a ``Device`` with ``run`` and ``run_batch``. Results are Braket's own, qubits in its order."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any

from braket.circuits import Circuit as BraketCircuit
from braket.circuits.serialization import IRType
from braket.devices import Device
from braket.ir.openqasm import Program as OpenQASMProgram
from braket.task_result import AdditionalMetadata, GateModelTaskResult, TaskMetadata
from braket.tasks import GateModelQuantumTaskResult, QuantumTask, QuantumTaskBatch

from ._runs import Submitted, options_of_jobs, shots_of
from .client import Client
from .errors import unsupported
from .results import Result
from .submissions import Circuit

DEFAULT_SHOTS = 1000
_XX = "h q; h r; cx q, r; rz(%) r; cx q, r; h q; h r;"
_YY = "rx(pi/2) q; rx(pi/2) r; cx q, r; rz(%) r; cx q, r; rx(-pi/2) q; rx(-pi/2) r;"
_RZX = "h r; cx q, r; rz(%) r; cx q, r; h r;"
GATES = (
    "gate i q { id q; }",
    "gate si q { sdg q; }",
    "gate ti q { tdg q; }",
    "gate v q { sx q; }",
    "gate vi q { inv @ sx q; }",
    "gate phaseshift(a) q { p(a) q; }",
    "gate gpi(a) q { x q; rz(2*a) q; }",
    "gate gpi2(a) q { rz(-a) q; rx(pi/2) q; rz(a) q; }",
    "gate prx(a, b) q { rz(-b) q; rx(a) q; rz(b) q; }",
    "gate cnot q, r { cx q, r; }",
    "gate cv q, r { ctrl @ sx q, r; }",
    "gate iswap q, r { s q; s r; h q; cx q, r; cx r, q; h r; }",
    "gate pswap(a) q, r { swap q, r; cx q, r; p(a) r; cx q, r; }",
    "gate cphaseshift(a) q, r { cp(a) q, r; }",
    "gate cphaseshift00(a) q, r { x q; x r; cp(a) q, r; x q; x r; }",
    "gate cphaseshift01(a) q, r { x q; cp(a) q, r; x q; }",
    "gate cphaseshift10(a) q, r { x r; cp(a) q, r; x r; }",
    f"gate xx(a) q, r {{ {_XX.replace('%', 'a')} }}",
    f"gate yy(a) q, r {{ {_YY.replace('%', 'a')} }}",
    "gate zz(a) q, r { cx q, r; rz(a) r; cx q, r; }",
    f"gate xy(a) q, r {{ {_XX.replace('%', '-a/2.0')} {_YY.replace('%', '-a/2.0')} }}",
    f"gate ms(a, b, c) q, r {{ rz(-a) q; rz(-b) r; {_XX.replace('%', 'c')} rz(a) q; rz(b) r; }}",
    f"gate ecr q, r {{ {_RZX.replace('%', 'pi/4')} x q; {_RZX.replace('%', '-pi/4')} }}",
    "gate ccnot q, r, t { ccx q, r, t; }",
)
"""Braket's gates that stdgates.inc does not have under their names, phases included, so that each can be controlled."""
_MEASURED = re.compile(r"^b\[(\d+)\] = measure (?:q\[|\$)(\d+)", re.MULTILINE)
_STATES = {
    "pending": "QUEUED",
    "running": "RUNNING",
    "cancelling": "CANCELLING",
    "completed": "COMPLETED",
    "failed": "FAILED",
    "dispatch_failed": "FAILED",
    "cancelled": "CANCELLED",
}


class RemoteDevice(Device):
    """A backend of the service as a device of Braket. ``job_options`` are those of ``Client.submit``."""

    def __init__(self, backend: str = "local", client: Client | None = None, **job_options: Any) -> None:
        self.client = client or Client()
        self.job_options = options_of_jobs(backend, job_options)
        super().__init__(backend, "ONLINE" if self.client.backend(backend)["isAvailable"] else "OFFLINE")

    def run(
        self,
        task_specification: BraketCircuit,
        shots: int | None = DEFAULT_SHOTS,
        inputs: Mapping[str, float] | None = None,
        *args: Any,
        **options: Any,
    ) -> RemoteTask:
        """Submits a circuit."""
        _refuse_unknown(args, options)
        written = _Written(task_specification, inputs or {}, shots)
        submitted = Submitted(self.client, [written.circuit], **self.job_options)
        return RemoteTask(written, submitted, 0)

    def run_batch(
        self,
        task_specifications: BraketCircuit | Sequence[BraketCircuit],
        shots: int | Sequence[int] | None = DEFAULT_SHOTS,
        max_parallel: int | None = None,
        inputs: Mapping[str, float] | Sequence[Mapping[str, float]] | None = None,
        *args: Any,
        **options: Any,
    ) -> RemoteBatch:
        """Submits circuits, or one with several inputs, as one job where the service has sweeps; it decides how many
        run at once."""
        del max_parallel
        _refuse_unknown(args, options)
        several = {
            "circuits": None if isinstance(task_specifications, BraketCircuit) else list(task_specifications),
            "shots": list(shots) if isinstance(shots, Sequence) else None,
            "inputs": None if inputs is None or isinstance(inputs, Mapping) else list(inputs),
        }
        sizes = {len(one) for one in several.values() if one is not None} or {1}
        if len(sizes) > 1:
            raise ValueError("circuits, shots and inputs have to be equal in number")
        [size] = sizes
        written = [
            _Written(circuit, values or {}, times)
            for circuit, times, values, _ in zip(
                several["circuits"] or repeat(task_specifications),
                several["shots"] or repeat(shots),
                several["inputs"] or repeat(inputs),
                range(size),
                strict=False,
            )
        ]
        submitted = Submitted(self.client, [one.circuit for one in written], **self.job_options)
        return RemoteBatch([RemoteTask(one, submitted, place) for place, one in enumerate(written)])


class RemoteTask(QuantumTask):
    """A circuit under way: a job, or a point of one."""

    def __init__(self, written: _Written, submitted: Submitted, place: int) -> None:
        self._written = written
        self._submitted = submitted
        self._place = place
        self._job = submitted.jobs[place]

    @property
    def id(self) -> str:
        """Of the job."""
        return self._job.id

    def cancel(self) -> None:
        """Asks for the end of the job, all of its circuits."""
        self._job.cancel()

    def state(self) -> str:
        """In Braket's words."""
        return _STATES[self._job.status()]

    def result(self) -> GateModelQuantumTaskResult:
        """The result, once it is there."""
        return self._written.result(self._submitted.result(self._place), self.id)

    def async_result(self) -> asyncio.Task[GateModelQuantumTaskResult]:
        """The result as a task of the running event loop."""
        return asyncio.get_running_loop().create_task(asyncio.to_thread(self.result))


class RemoteBatch(QuantumTaskBatch):
    """Circuits that were submitted together."""

    def __init__(self, tasks: list[RemoteTask]) -> None:
        self.tasks = tasks

    def results(self) -> list[GateModelQuantumTaskResult]:
        """The results in the order of the circuits, once they are there."""
        return [task.result() for task in self.tasks]


class _Written:
    """A circuit in OpenQASM 3, and how its bits become a result of Braket."""

    def __init__(self, circuit: Any, inputs: Mapping[str, float], shots: Any) -> None:
        if not isinstance(circuit, BraketCircuit):
            raise unsupported(f"a {type(circuit).__name__} cannot be sent: only braket.circuits.Circuit")
        if not shots:
            raise unsupported("shots=0 is not possible: results are sampled here; set shots")
        bound = circuit.make_bound_circuit({name: inputs[name] for name in _names(circuit) & inputs.keys()})
        if missing := _names(bound):
            raise unsupported(f"the circuit has parameters without a value: {sorted(missing)}")
        self._result_types = bound.result_types
        whole = BraketCircuit([*bound.instructions, *bound.basis_rotation_instructions])
        self._text = _standard(whole.to_ir(ir_type=IRType.OPENQASM).source)
        self._measured = {int(bit): int(qubit) for bit, qubit in _MEASURED.findall(self._text)}
        self._shots = int(shots)
        self.circuit = Circuit(self._text, {"shots": self._shots})

    def result(self, result: Result, job_id: str) -> GateModelQuantumTaskResult:
        """As Braket makes it from the measurements of a device."""
        shots = shots_of(result)
        return GateModelQuantumTaskResult.from_object(
            # As Braket's own simulator: the values of the result types are not there yet, which the type requires.
            GateModelTaskResult.construct(
                measurements=shots.tolist(),
                measuredQubits=[self._measured[bit] for bit in range(shots.shape[1])],
                resultTypes=[one.to_ir() for one in self._result_types],
                taskMetadata=TaskMetadata(id=job_id, shots=self._shots, deviceId=str(result.raw.get("backend", ""))),
                additionalMetadata=AdditionalMetadata(action=OpenQASMProgram(source=self._text)),
            )
        )


def _standard(text: str) -> str:
    """A program of Braket with the definitions of those of its gates that stdgates.inc lacks. Raises Refused for what
    only Braket's own readers know."""
    if pragma := re.search(r"^ *#pragma braket (\w+(?: [a-z]\w*)?)", text, re.MULTILINE):
        raise unsupported(f"'{pragma[1]}' cannot be sent: write gates; noise is an option of the job")
    mentioned = set(re.findall(r"\w+", text))
    definitions = [one for one in GATES if re.split(r"[ (]", one, maxsplit=2)[1] in mentioned]
    head, version, rest = text.partition("OPENQASM 3.0;")
    return "\n".join([head + version, 'include "stdgates.inc";', *definitions]) + rest


def _refuse_unknown(args: Sequence[Any], options: Mapping[str, Any]) -> None:
    """Those that only say how often to ask have no effect here; others would be ignored without a word."""
    unknown = [*map(repr, args), *(name for name in options if not name.startswith("poll_"))]
    if unknown:
        raise unsupported(f"{', '.join(unknown)}: no such options here; those of the job belong to the device")


def _names(circuit: BraketCircuit) -> set[str]:
    return {parameter.name for parameter in circuit.parameters}
