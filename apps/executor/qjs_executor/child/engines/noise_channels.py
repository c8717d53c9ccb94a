"""Puts a noise model into a circuit as channels next to its gates.

Noise belongs to the gates that the circuit has: first everything is written in one- and two-qubit gates (and those the
model names), then the channels are inserted, and only then are gates that the simulator lacks translated, without noise
of their own. A gate is followed by its depolarizing channel and then by relaxation of each of its qubits; a measurement
is preceded by relaxation for the readout time. Resets take no time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit import CircuitInstruction, ControlFlowOp, Delay, Gate, Instruction, Measure, Qubit
from qiskit.quantum_info import Kraus
from qiskit_aer.noise import NoiseModel, ReadoutError, depolarizing_error
from qiskit_aer.noise.noise_model import QuantumErrorLocation

from ..circuits.control_flow import is_dynamic
from ..circuits.gate_names import is_standard
from ..refusals import Unsupported
from .aer_target import every_item, noise_target, translated
from .noise import READOUT_TIME_NS, NoiseSpec, written_name

_NS_PER_UNIT = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0, "ps": 1e-3}


def with_noise(circuit: QuantumCircuit, spec: NoiseSpec, level: int) -> tuple[QuantumCircuit, NoiseModel]:
    """The circuit with its channels, and the model that holds the effects of channels and readout. Gates that the spec
    names are executed as written at every optimization level."""
    gates = in_noisy_gates(circuit, spec)
    if level > 0:
        gates = _optimized(gates, spec, level)
    writing = _Writing(spec, {qubit: index for index, qubit in enumerate(gates.qubits)})
    noisy = writing.circuit(gates, writing.qubits)
    for qubit in range(circuit.num_qubits):
        error = spec.readout.get(qubit, spec.readout.get(None))
        if error is not None:
            rows = [[1 - error.p1_given0, error.p1_given0], [error.p0_given1, 1 - error.p0_given1]]
            writing.model.add_readout_error(ReadoutError(rows), [qubit])
    return (noisy if is_dynamic(noisy) else _with_measurements_last(noisy)), writing.model


def unused_gates(circuit: QuantumCircuit, spec: NoiseSpec) -> list[str]:
    """The gates that the spec names and the circuit, as written, does not have at any depth."""
    present: set[str] = set()
    _collect_names(circuit, present, set())
    return sorted(spec.gates - present)


def _collect_names(circuit: QuantumCircuit, present: set[str], seen: set[int]) -> None:
    for item in every_item(circuit):
        present.add(written_name(item.operation.name))
        definition = None if item.is_standard_gate() else getattr(item.operation, "definition", None)
        if definition is not None and id(definition) not in seen:
            seen.add(id(definition))
            _collect_names(definition, present, seen)


def in_noisy_gates(circuit: QuantumCircuit, spec: NoiseSpec) -> QuantumCircuit:
    """The circuit in one- and two-qubit gates and those that the spec names."""
    kept: dict[str, Gate] = {}
    _collect_kept(circuit, spec, kept, set())
    target = noise_target(circuit, kept)
    gates = translated(_split(circuit, spec), target, 0)
    while any(_is_composite(item, spec) for item in every_item(gates)):
        gates = translated(_split(gates, spec), target, 0)
    return gates


def _collect_kept(circuit: QuantumCircuit, spec: NoiseSpec, kept: dict[str, Gate], seen: set[int]) -> None:
    for item in every_item(circuit):
        operation = item.operation
        if isinstance(operation, Gate) and written_name(operation.name) in spec.gates:
            known = kept.setdefault(operation.name, operation)
            if known.num_qubits != operation.num_qubits:
                raise Unsupported(
                    f"noise_model.gate_errors.{operation.name}: the circuit has gates of this name on"
                    f" {known.num_qubits} and on {operation.num_qubits} qubits"
                )
            continue
        definition = None if item.is_standard_gate() else getattr(operation, "definition", None)
        if definition is not None and id(definition) not in seen:
            seen.add(id(definition))
            _collect_kept(definition, spec, kept, seen)


def _is_composite(item: CircuitInstruction, spec: NoiseSpec) -> bool:
    """Whether an operation is defined by other operations. Its definition determines what is executed on the hardware.
    The transpiler would choose among translations, and with many gates to choose from it finds unusual ones."""
    operation = item.operation
    if item.is_standard_gate() and operation.num_qubits <= 2:
        return False
    if isinstance(operation, ControlFlowOp) or getattr(operation, "definition", None) is None:
        return False
    if isinstance(operation, Gate):
        if operation.name == "unitary" and operation.num_qubits <= 2 and is_standard(operation):
            return False
        return written_name(operation.name) not in spec.gates
    return not is_standard(operation)


def _split(circuit: QuantumCircuit, spec: NoiseSpec) -> QuantumCircuit:
    """A copy with every composite operation replaced by its definition, all the way down."""
    copy = circuit.copy_empty_like()
    for item in circuit.data:
        if _is_composite(item, spec):
            copy.compose(_split(item.operation.definition, spec), item.qubits, item.clbits, inplace=True)
        elif isinstance(item.operation, ControlFlowOp):
            blocks = [_split(block, spec) for block in item.operation.blocks]
            copy._append(item.replace(operation=item.operation.replace_blocks(blocks)))
        else:
            copy._append(item)
    return copy


class _Kept(Instruction):  # type: ignore[misc]
    """Stands for a gate that the optimizer must not change: an operation that is not a gate has no matrix to merge."""

    def __init__(self, original: Gate) -> None:
        super().__init__(f"kept_{original.name}", original.num_qubits, 0, [])
        self.original = original


def _optimized(circuit: QuantumCircuit, spec: NoiseSpec, level: int) -> QuantumCircuit:
    kept: dict[str, Instruction] = {}

    def hide(item: CircuitInstruction) -> Instruction:
        if not isinstance(item.operation, Gate) or written_name(item.operation.name) not in spec.gates:
            return item.operation
        hidden = _Kept(item.operation)
        kept[hidden.name] = hidden
        return hidden

    hidden = _mapped(circuit, hide)
    optimized = translated(hidden, noise_target(circuit, kept), level)
    return _mapped(optimized, lambda item: getattr(item.operation, "original", item.operation))


def _mapped(circuit: QuantumCircuit, change: Any) -> QuantumCircuit:
    copy = circuit.copy_empty_like()
    for item in circuit.data:
        if isinstance(item.operation, ControlFlowOp):
            operation = item.operation.replace_blocks([_mapped(block, change) for block in item.operation.blocks])
        else:
            operation = change(item)
        copy._append(item.replace(operation=operation))
    return copy


class _Writing:
    """One circuit being written with its channels; equal channels are made once."""

    def __init__(self, spec: NoiseSpec, qubits: dict[Qubit, int]) -> None:
        self.model = NoiseModel()
        self.qubits = qubits
        self._spec = spec
        self._depolarizing: dict[tuple[float, int], Instruction] = {}
        self._relaxation: dict[tuple[float, float], Instruction] = {}

    def circuit(self, circuit: QuantumCircuit, indices: dict[Qubit, int]) -> QuantumCircuit:
        """`indices`: the place of this circuit's qubits (of a block, perhaps) in the whole one."""
        noisy = circuit.copy_empty_like()
        for item in circuit.data:
            operation = item.operation
            if isinstance(operation, ControlFlowOp):
                blocks = [
                    self.circuit(
                        block,
                        {inner: indices[outer] for inner, outer in zip(block.qubits, item.qubits, strict=True)},
                    )
                    for block in operation.blocks
                ]
                noisy._append(item.replace(operation=operation.replace_blocks(blocks)))
                continue
            if isinstance(operation, Measure):
                self._relax(noisy, item.qubits[0], indices, READOUT_TIME_NS)
            noisy._append(item)
            if isinstance(operation, Delay):
                self._relax(noisy, item.qubits[0], indices, self._delay_ns(operation, indices[item.qubits[0]]))
            elif isinstance(operation, Gate) and item.qubits:
                self._after_gate(noisy, item, indices)
        return noisy

    def _after_gate(self, noisy: QuantumCircuit, item: CircuitInstruction, indices: dict[Qubit, int]) -> None:
        name = item.operation.name
        parameter = self._spec.depolarizing(name, tuple(indices[qubit] for qubit in item.qubits))
        if parameter > 0:
            key = parameter, len(item.qubits)
            if key not in self._depolarizing:
                error = depolarizing_error(*key)
                self.model.add_all_qubit_quantum_error(error, error.id)
                self._depolarizing[key] = QuantumErrorLocation(error)
            noisy.append(self._depolarizing[key], item.qubits)
        for qubit in item.qubits:
            self._relax(noisy, qubit, indices, self._spec.time_ns(name, len(item.qubits)))

    def _relax(self, noisy: QuantumCircuit, qubit: Qubit, indices: dict[Qubit, int], time_ns: float) -> None:
        left = self._spec.relaxation(indices[qubit], time_ns)
        if left is None or left == (1.0, 1.0):
            return
        if left not in self._relaxation:
            self._relaxation[left] = _relaxation_channel(*left)
        noisy.append(self._relaxation[left], [qubit])

    def _delay_ns(self, delay: Delay, qubit: int) -> float:
        if self._spec.relaxation(qubit, 1.0) is None:
            return 0.0
        if delay.unit not in _NS_PER_UNIT:
            raise Unsupported(
                f"operation 'delay' on qubit {qubit} is given in '{delay.unit}', which has no length on this backend;"
                " give it in s, ms, us or ns"
            )
        return float(delay.duration) * _NS_PER_UNIT[delay.unit]


def _relaxation_channel(population: float, coherence: float) -> Instruction:
    """Amplitude and phase damping that leave these parts of the excited population and of the coherence. Written out
    rather than taken from the library, whose form for T2 > T1 is computed numerically and fails at times."""
    return Kraus(
        [
            np.array([[1, 0], [0, coherence]]),
            np.array([[0, math.sqrt(1 - population)], [0, 0]]),
            np.array([[0, 0], [0, math.sqrt(max(population - coherence**2, 0.0))]]),
        ]
    ).to_instruction()


def _with_measurements_last(circuit: QuantumCircuit) -> QuantumCircuit:
    """The same circuit with its measurements at the end if each is the last operation on its qubit and the only one on
    its bit: only then can the simulator sample all shots from one final state."""
    measured: set[Any] = set()
    written: set[Any] = set()
    for item in circuit.data:
        if not measured.isdisjoint(item.qubits) and item.operation.name != "barrier":
            return circuit
        if isinstance(item.operation, Measure):
            if item.clbits[0] in written:
                return circuit
            measured.update(item.qubits)
            written.update(item.clbits)
        elif item.clbits:
            return circuit
    ordered = circuit.copy_empty_like()
    for last in (False, True):
        for item in circuit.data:
            if isinstance(item.operation, Measure) is last:
                ordered._append(item)
    return ordered
