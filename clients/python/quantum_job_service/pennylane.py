"""PennyLane: the device ``qjs.remote``. Gates run at the service, those that change the basis of a measurement too;
this device only evaluates what comes back: exact values, amplitudes, or shots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pennylane as qml
from pennylane.devices import Device, ExecutionConfig
from pennylane.devices.modifiers import simulator_tracking, single_tape_support
from pennylane.devices.preprocess import (
    decompose,
    validate_device_wires,
    validate_measurements,
    validate_observables,
)
from pennylane.measurements import (
    ExpectationMP,
    MeasurementProcess,
    ProbabilityMP,
    SampleMeasurement,
    StateMeasurement,
    VarianceMP,
)
from pennylane.ops import Adjoint
from pennylane.tape import QuantumScript
from pennylane.transforms import broadcast_expand, defer_measurements, split_non_commuting
from pennylane.transforms.core import CompilePipeline

from ._openqasm import Program
from ._runs import STATE_QUBITS_MAX, options_of_jobs, run_all, shots_of, state_of
from .client import Client
from .errors import unsupported
from .results import Result
from .submissions import Circuit

GATES: dict[str, str] = {
    "Identity": "id",
    "PauliX": "x",
    "PauliY": "y",
    "PauliZ": "z",
    "Hadamard": "h",
    "S": "s",
    "T": "t",
    "SX": "sx",
    "RX": "rx",
    "RY": "ry",
    "RZ": "rz",
    "PhaseShift": "p",
    "CNOT": "cx",
    "CY": "cy",
    "CZ": "cz",
    "CH": "ch",
    "CRX": "crx",
    "CRY": "cry",
    "CRZ": "crz",
    "ControlledPhaseShift": "cp",
    "SWAP": "swap",
    "CSWAP": "cswap",
    "Toffoli": "ccx",
    "Adjoint(S)": "sdg",
    "Adjoint(T)": "tdg",
}
"""Names of PennyLane and of stdgates.inc for the same matrices; PennyLane decomposes other gates into these."""
OBSERVABLES_MAX = 100
TERMS_MAX = 1_000
"""Of one job or point; docs/observables.md."""


@simulator_tracking
@single_tape_support
class RemoteDevice(Device):
    """``qml.device("qjs.remote", wires=2, backend="local")``. Without shots, values are exact, and refused by backends
    that have no state; other options are those of ``Client.submit``."""

    name = "qjs.remote"

    def __init__(
        self,
        wires: Any = None,
        shots: Any = None,
        *,
        backend: str = "local",
        client: Client | None = None,
        **job_options: Any,
    ) -> None:
        super().__init__(wires=wires, shots=shots)
        self.client = client or Client()
        self.job_options = options_of_jobs(backend, job_options)

    def setup_execution_config(
        self, config: ExecutionConfig | None = None, circuit: QuantumScript | None = None
    ) -> ExecutionConfig:
        del circuit
        return config or ExecutionConfig()

    def preprocess_transforms(self, execution_config: ExecutionConfig | None = None) -> CompilePipeline:
        """What PennyLane does before a circuit is sent: everything is written in gates of the service."""
        del execution_config
        program = CompilePipeline()
        program.add_transform(validate_device_wires, wires=self.wires, name=self.name)
        program.add_transform(defer_measurements, allow_postselect=False)
        program.add_transform(
            validate_measurements,
            analytic_measurements=lambda one: isinstance(one, StateMeasurement),
            sample_measurements=lambda one: isinstance(one, SampleMeasurement),
            name=self.name,
        )
        program.add_transform(validate_observables, stopping_condition=_has_a_basis, name=self.name)
        program.add_transform(measured_in_the_basis)
        program.add_transform(decompose, stopping_condition=_is_sent, skip_initial_state_prep=False, name=self.name)
        program.add_transform(broadcast_expand)
        return program

    def execute(self, circuits: Sequence[QuantumScript], execution_config: ExecutionConfig | None = None) -> Any:
        """The values of each circuit's measurements."""
        del execution_config
        tapes = [_numbered(one, list(self.wires or one.wires)) for one in circuits]
        widths = [max(1, len(self.wires or one.wires)) for one in circuits]
        sent = [_circuit(one, width) for one, width in zip(tapes, widths, strict=True)]
        results = run_all(self.client, sent, **self.job_options)
        return tuple(_values(*one) for one in zip(tapes, widths, results, strict=True))


def _numbered(tape: QuantumScript, order: list[Any]) -> QuantumScript:
    """The circuit on wires 0, 1, ..., which are the qubits of the service."""
    [mapped], _ = qml.map_wires(tape, {wire: place for place, wire in enumerate(order)})
    return mapped


@qml.transform
def measured_in_the_basis(tape: QuantumScript) -> tuple[list[QuantumScript], Callable[..., Any]]:
    """Circuits whose measurements can be made together, each followed by the gates into their basis. Expectation values
    of Pauli matrices without shots need none: the service gives them exactly."""
    if _is_exact(tape):
        return [tape], _first
    based = [bool(tape.shots) or isinstance(one, _IN_A_BASIS) for one in tape.measurements]
    if not all(based):
        return _with_states_apart(tape, based)
    tapes, join = split_non_commuting(tape)
    return [
        one if _is_exact(one) else one.copy(operations=[*one.operations, *one.diagonalizing_gates]) for one in tapes
    ], join


_IN_A_BASIS = (ExpectationMP, VarianceMP, ProbabilityMP)
"""What is read off the amplitudes in the basis of the measurement; other values are of the state itself."""


def _with_states_apart(tape: QuantumScript, based: list[bool]) -> tuple[list[QuantumScript], Callable[..., Any]]:
    """The measurements of the state itself in a circuit of their own, which no change of basis follows."""
    of_state = [one for one, is_based in zip(tape.measurements, based, strict=True) if not is_based]
    others = [one for one, is_based in zip(tape.measurements, based, strict=True) if is_based]
    alone = tape.copy(measurements=of_state)
    if not others:
        return [alone], _first
    tapes, join = measured_in_the_basis(tape.copy(measurements=others))

    def in_order(results: Sequence[Any]) -> Any:
        both = {
            True: iter(_each(join(results[:-1]), len(others))),
            False: iter(_each(results[-1], len(of_state))),
        }
        return tuple(next(both[is_based]) for is_based in based)

    return [*tapes, alone], in_order


def _each(results: Any, count: int) -> Sequence[Any]:
    return (results,) if count == 1 else results


def _first(results: Sequence[Any]) -> Any:
    return results[0]


def _is_exact(tape: QuantumScript) -> bool:
    """Whether the service itself computes all values of the circuit."""
    if tape.shots or not tape.measurements:
        return False
    words = 0
    for one in tape.measurements:
        if type(one) is not ExpectationMP or one.obs is None or one.obs.pauli_rep is None:
            return False
        words += max(1, len(one.obs.pauli_rep))
    return words <= TERMS_MAX and len(tape.measurements) <= OBSERVABLES_MAX


def _has_a_basis(observable: Any) -> bool:
    """Whether gates lead into the basis of an observable: for a sparse matrix there are none."""
    return observable.pauli_rep is not None or bool(observable.has_diagonalizing_gates)


def _is_sent(operation: Any) -> bool:
    return operation.name in GATES or operation.name == "GlobalPhase"


def _circuit(tape: QuantumScript, width: int) -> Circuit:
    program = Program(width)
    for operation in tape.operations:
        params = [float(one) for one in operation.parameters]
        if operation.name == "GlobalPhase":
            program.gate("gphase", (), [-params[0]])
        else:
            base = operation.base if isinstance(operation, Adjoint) else operation
            name = GATES[operation.name]
            program.gate(name, base.wires, params)
    if tape.shots:
        register = program.register(width)
        program.line(f"{register} = measure q;")
        return Circuit(program.text, {"shots": tape.shots.total_shots})
    if _is_exact(tape):
        observables = [_pauli_sum(one, width) for one in tape.measurements]
        return Circuit(program.text, {"shots": 1, "observables": observables, "observables_method": "exact"})
    if width > STATE_QUBITS_MAX:
        raise unsupported(
            f"exact values other than those of sums of Pauli matrices need the state of {width} wires; up to"
            f" {STATE_QUBITS_MAX} are sent: set shots"
        )
    return Circuit(program.text, {"shots": 1, "extract_state_vector": True})


def _pauli_sum(measurement: MeasurementProcess, width: int) -> str:
    """An observable as the service writes it: a letter for each wire in their order."""
    terms = []
    for word, factor in measurement.obs.pauli_rep.items():
        if np.imag(factor) != 0:
            raise unsupported(f"{measurement.obs} has a complex factor; only Hermitian observables have a value")
        letters = "".join(word.get(wire, "I") for wire in range(width))
        terms.append(f"{'-' if np.real(factor) < 0 else '+'}{abs(float(np.real(factor)))!r}*{letters}")
    return "".join(terms) or "0.0*" + "I" * width


def _values(tape: QuantumScript, width: int, result: Result) -> Any:
    """What the circuit's measurements are worth, in the form that PennyLane prescribes."""
    order = qml.wires.Wires(range(width))
    if not tape.shots:
        if _is_exact(tape):
            values = [np.float64(one.value) for one in result.expectation_values]
        else:
            state = state_of(result)
            values = [one.process_state(state, order) for one in tape.measurements]
        return values[0] if len(values) == 1 else tuple(values)
    # Signed, as those of PennyLane's own devices.
    shots = shots_of(result).astype(np.int64)
    parts = [_of_shots(tape.measurements, shots[first:last], order) for first, last in tape.shots.bins()]
    return tuple(parts) if tape.shots.has_partitioned_shots else parts[0]


def _of_shots(measurements: Iterable[SampleMeasurement], shots: Any, order: Any) -> Any:
    values = tuple(one.process_samples(shots, order) for one in measurements)
    return values[0] if len(values) == 1 else values
