"""Cirq: a ``cirq.Sampler``. Results have Cirq's keys and its order of qubits within them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cirq
import numpy as np

from ._openqasm import Program
from ._runs import options_of_jobs, run_all, shots_of
from .client import Client
from .errors import unsupported
from .results import Result
from .submissions import Circuit

_Key = tuple[str, int, tuple[bool, ...]]


class RemoteSampler(cirq.Sampler):
    """Samples circuits at the service; all values of a sweep are one job where the service has sweeps. ``job_options``
    are those of ``Client.submit``."""

    def __init__(self, backend: str = "local", client: Client | None = None, **job_options: Any) -> None:
        self.client = client or Client()
        self.job_options = options_of_jobs(backend, job_options)

    def run_sweep(
        self, program: cirq.AbstractCircuit, params: cirq.Sweepable, repetitions: int = 1
    ) -> Sequence[cirq.Result]:
        """A result for each value of the parameters."""
        return self.run_batch([program], [params], repetitions)[0]

    def run_batch(
        self,
        programs: Sequence[cirq.AbstractCircuit],
        params_list: Sequence[cirq.Sweepable] | None = None,
        repetitions: int | Sequence[int] = 1,
    ) -> Sequence[Sequence[cirq.Result]]:
        """As ``run_sweep`` for each program, all of them together."""
        given, repeated = self._normalize_batch_args(programs, params_list, repetitions)
        runs = [
            (number, resolver, _Written(cirq.resolve_parameters(program, resolver)), times)
            for number, (program, params, times) in enumerate(zip(programs, given, repeated, strict=True))
            for resolver in cirq.to_resolvers(params)
        ]
        # The service takes at least one shot.
        sent = [Circuit(written.text, {"shots": times}) for _, _, written, times in runs if times > 0]
        results = iter(run_all(self.client, sent, **self.job_options) if sent else [])
        found: list[list[cirq.Result]] = [[] for _ in programs]
        for number, resolver, written, times in runs:
            records = written.records(next(results) if times > 0 else None)
            found[number].append(cirq.ResultDict(params=resolver, records=records))
        return found


class _Written:
    """A circuit in OpenQASM 3, and where its measurements stand in the keys of the counts."""

    def __init__(self, circuit: cirq.AbstractCircuit) -> None:
        if cirq.is_parameterized(circuit):
            raise unsupported(f"the circuit has symbols without a value: {sorted(cirq.parameter_names(circuit))}")
        if not circuit.has_measurements():
            raise unsupported("the circuit has no measurements to sample")
        flat = cirq.Circuit(circuit.unfreeze(copy=True)) if not isinstance(circuit, cirq.Circuit) else circuit
        flat = cirq.unroll_circuit_op(flat, deep=True, tags_to_check=None)
        self._qubits = sorted(flat.all_qubits())
        self._program = Program(len(self._qubits))
        self._keys: list[_Key] = []
        for operation in flat.all_operations():
            self._write(operation)
        self.text = self._program.text

    def records(self, result: Result | None) -> dict[str, Any]:
        """Of each key an array of repetitions, instances and qubits."""
        bits = (
            np.zeros((0, sum(size for _, size, _ in self._keys)), dtype=np.uint8)
            if result is None
            else shots_of(result)
        )
        parts: dict[str, list[Any]] = {}
        start = 0
        for key, size, inverted in self._keys:
            parts.setdefault(key, []).append(bits[:, start : start + size] ^ np.array(inverted, dtype=np.uint8))
            start += size
        for key, instances in parts.items():
            if len({one.shape for one in instances}) > 1:
                raise unsupported(f"key '{key}' measures different numbers of qubits")
        return {key: np.stack(instances, axis=1) for key, instances in parts.items()}

    def _write(self, operation: cirq.Operation) -> None:
        if operation.classical_controls:
            raise unsupported(f"{operation}: classical control is not sent by this sampler")
        gate = operation.gate
        if isinstance(gate, cirq.MeasurementGate):
            self._measure(operation, gate)
        elif cirq.is_measurement(operation):
            for part in cirq.decompose_once(operation):
                self._write(part)
        elif isinstance(gate, cirq.ResetChannel) and gate.dimension == 2:
            self._program.line(f"reset q[{self._places(operation)[0]}];")
        else:
            self._gates(operation)

    def _measure(self, operation: cirq.Operation, gate: cirq.MeasurementGate) -> None:
        if gate.confusion_map:
            raise unsupported(f"{operation}: a confusion map is a noise model of its own")
        if any(dimension != 2 for dimension in cirq.qid_shape(operation)):
            raise unsupported(f"{operation}: only qubits are sent")
        register = self._program.register(len(operation.qubits))
        for bit, qubit in enumerate(self._places(operation)):
            self._program.measure(qubit, register, bit)
        self._keys.append((cirq.measurement_key_name(operation), len(operation.qubits), gate.full_invert_mask()))

    def _gates(self, operation: cirq.Operation) -> None:
        """As the gates of stdgates.inc, up to a phase of the whole circuit."""
        written = cirq.decompose(operation, keep=lambda one: _as_gate(one) is not None, on_stuck_raise=None)
        for part in written:
            named = _as_gate(part)
            if named is None:
                raise unsupported(f"{part} is no gate that OpenQASM 3 has; decompose it")
            name, params = named
            if name:
                self._program.gate(name, self._places(part), params)

    def _places(self, operation: cirq.Operation) -> list[int]:
        return [self._qubits.index(qubit) for qubit in operation.qubits]


_NAMED: dict[Any, str] = {
    cirq.X: "x",
    cirq.Y: "y",
    cirq.Z: "z",
    cirq.H: "h",
    cirq.S: "s",
    cirq.T: "t",
    cirq.S**-1: "sdg",
    cirq.T**-1: "tdg",
    cirq.CX: "cx",
    cirq.CZ: "cz",
    cirq.SWAP: "swap",
    cirq.CCX: "ccx",
    cirq.CSWAP: "cswap",
}


def _as_gate(operation: cirq.Operation) -> tuple[str, tuple[float, ...]] | None:
    """Name and angles of an operation that is one gate of stdgates.inc, up to a phase of the whole circuit; an empty
    name for one that does nothing."""
    gate = operation.gate
    if operation.classical_controls or gate is None:
        return None
    if isinstance(gate, (cirq.IdentityGate, cirq.GlobalPhaseGate)):
        return "", ()
    for known, name in _NAMED.items():
        if gate == known:
            return name, ()
    for kind, name in ((cirq.XPowGate, "rx"), (cirq.YPowGate, "ry"), (cirq.ZPowGate, "rz"), (cirq.CZPowGate, "cp")):
        if isinstance(gate, kind) and set(cirq.qid_shape(gate)) == {2}:
            return name, (float(gate.exponent) * np.pi,)
    return None
