"""The state before the final measurements of a circuit, for `extract_state_vector`.

Only for circuits that have one: without mid-circuit measurement, reset, channels or classical control. Index = the bit
string of the qubits, qubit 0 as its MOST significant bit, as in the counts.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from qiskit import QuantumCircuit
from qiskit.circuit import ControlFlowOp, Gate, Measure, Qubit, Store
from qiskit.circuit.library import Initialize, StatePreparation
from qiskit_aer import AerSimulator
from qiskit_aer.library import SaveStatevector

from ..circuits.gate_names import is_standard
from ..refusals import JobError, Unsupported
from .aer_target import check_operations, method_target, refusal, translated_for, without_saved_data
from .engine import ENGINES, check, run
from .noise import NoiseSpec

STATE_QUBITS_MAX = 20
INLINE_QUBITS_MAX = 14
_LABEL = "state_before_measurement"


def state_vector(
    circuit: QuantumCircuit, engine: str, source: str | None, noise_model: NoiseSpec | None = None
) -> NDArray[np.complex128]:
    """The 2^n amplitudes. Raises Unsupported by name for what has no such state."""
    if circuit.num_qubits > STATE_QUBITS_MAX:
        raise Unsupported(
            f"extract_state_vector: up to {STATE_QUBITS_MAX} qubits, the circuit has {circuit.num_qubits}"
        )
    if noise_model is not None:
        raise Unsupported("extract_state_vector: a run with a noise_model has no state vector")
    if engine in ENGINES and not ENGINES[engine].has_state_vector:
        raise Unsupported(f"extract_state_vector: the engine '{engine}' gives no state vector; use aer-statevector")
    chosen = check(engine, circuit.num_qubits)
    unitary = before_measurements(without_saved_data(circuit), source, "extract_state_vector")
    check_operations(unitary, method_target(chosen.method), source)
    compiled = translated_for(chosen.method, unitary, 0)
    compiled.append(SaveStatevector(circuit.num_qubits, label=_LABEL), compiled.qubits)
    simulator = AerSimulator(method=chosen.method, device=chosen.device)
    data: Any = run(simulator, compiled, 1, 0, None).data
    amplitudes = np.asarray(getattr(data, _LABEL), dtype=np.complex128)
    # The simulator's index has qubit 0 as its least significant bit.
    axes = amplitudes.reshape((2,) * circuit.num_qubits).transpose()
    return np.ascontiguousarray(axes).reshape(-1)


def is_inline(num_qubits: int) -> bool:
    """Whether the result itself contains a state of this many qubits; a larger one is an artifact."""
    return num_qubits <= INLINE_QUBITS_MAX


def amplitude_pairs(state: NDArray[np.complex128]) -> list[list[float]]:
    """`[[re, im], ...]` in the order of the index."""
    if state.size > 1 << INLINE_QUBITS_MAX:
        raise JobError(f"extract_state_vector: in the result up to {INLINE_QUBITS_MAX} qubits, above as .npy")
    pairs: list[list[float]] = np.ascontiguousarray(state).view(np.float64).reshape(-1, 2).tolist()
    return pairs


def npy_bytes(state: NDArray[np.complex128]) -> bytes:
    """The state as a `.npy` file (complex128, shape (2^n,))."""
    buffer = io.BytesIO()
    np.save(buffer, state, allow_pickle=False)
    return buffer.getvalue()


def before_measurements(circuit: QuantumCircuit, source: str | None, asked: str) -> QuantumCircuit:
    """The circuit without its final measurements. Raises Unsupported, with the name of what was asked for, for anything
    that leaves no single state."""
    unitary = circuit.copy_empty_like()
    measured: set[Qubit] = set()
    touched: set[Qubit] = set()
    for item in written_out(circuit).data:
        operation = item.operation
        if operation.name == "barrier":
            continue
        if not measured.isdisjoint(item.qubits):
            place = min(circuit.find_bit(qubit).index for qubit in measured.intersection(item.qubits))
            raise Unsupported(
                f"{asked}: operation '{operation.name}' follows the measurement of qubit {place}; a"
                " circuit with mid-circuit measurement has no single state"
            )
        if isinstance(operation, Measure):
            measured.update(item.qubits)
            continue
        if isinstance(operation, Initialize) and touched.isdisjoint(item.qubits):
            # Its resets act on qubits that still are 0.
            unitary.append(StatePreparation(operation.params), item.qubits)
        elif isinstance(operation, Gate) or operation.name == "delay":
            unitary._append(item)
        else:
            raise refusal(circuit, item, f"leaves no single state: {asked} is not possible", source)
        touched.update(item.qubits)
    return unitary


def written_out(circuit: QuantumCircuit) -> QuantumCircuit:
    """A copy with composite instructions of the user's replaced by their definitions: measurements hide in them."""
    flat = circuit.copy_empty_like()
    for item in circuit.data:
        operation = item.operation
        definition = getattr(operation, "definition", None)
        if (
            isinstance(operation, Gate | ControlFlowOp | Store | Measure)
            or is_standard(operation)
            or definition is None
        ):
            flat._append(item)
        else:
            flat.compose(written_out(definition), item.qubits, item.clbits, inplace=True)
    return flat
