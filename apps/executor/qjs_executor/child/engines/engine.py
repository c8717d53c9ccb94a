"""The engines: by which method of qiskit-aer each executes a circuit, what it can hold, and the simulation itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from qiskit import QuantumCircuit
from qiskit.circuit import ControlFlowOp, Measure, Reset
from qiskit.circuit.library import Initialize
from qiskit_aer import AerSimulator
from qiskit_aer.noise import NoiseModel

from ...isolation.confinement import allow_engine_memory
from ..circuits.control_flow import is_dynamic, refuse_variables, widened
from ..refusals import JobError
from . import mps
from .aer_target import (
    check_operations,
    every_item,
    has_channels,
    method_target,
    translated_for,
    without_saved_data,
)
from .memory import BYTES_PER_AMPLITUDE, check_fits, fits
from .noise import NoiseSpec
from .noise_channels import with_noise

DENSITY_MATRIX_QUBITS_MAX = 14
"""The widest density matrix of the engine `noisy`; above it, each shot follows one trajectory of the state."""


@dataclass(frozen=True)
class Engine:
    """`method` of qiskit-aer on a `device` (CPU, GPU); `qubit_bytes` gives the bytes of a state of n qubits, None where
    no bound is known before the execution."""

    method: str
    device: str
    has_noise: bool
    has_state_vector: bool
    state: str
    qubit_bytes: Callable[[int], int] | None


def _state_bytes(num_qubits: int) -> int:
    return BYTES_PER_AMPLITUDE << num_qubits


def _density_matrix_bytes(num_qubits: int) -> int:
    return BYTES_PER_AMPLITUDE << 2 * num_qubits


ENGINES: dict[str, Engine] = {
    "statevector": Engine("statevector", "CPU", False, True, "a state", _state_bytes),
    "density_matrix": Engine("density_matrix", "CPU", True, False, "a density matrix", _density_matrix_bytes),
    "mps": Engine(mps.METHOD, "CPU", False, False, "a matrix product state", None),
    # At least a state vector has to fit; whether a density matrix fits only decides the method.
    "noisy": Engine("statevector", "CPU", True, False, "a state", _state_bytes),
    "gpu_statevector": Engine("statevector", "GPU", True, True, "a state", _state_bytes),
    "gpu_tensor_network": Engine("tensor_network", "GPU", False, False, "a tensor network", None),
}


def is_available(name: str) -> bool:
    """Whether this machine has the engine: those on GPUs need a build of the simulator for them, and a GPU."""
    engine = ENGINES[name]
    if engine.device != "CPU":
        # The driver of a GPU needs more address space than a program may have.
        allow_engine_memory()
    simulator = AerSimulator()
    return engine.device in simulator.available_devices() and engine.method in simulator.available_methods()


def check(name: str, num_qubits: int, has_noise_model: bool = False) -> Engine:
    """The engine, after a check that it exists here, takes the noise model and can hold this many qubits. Raises
    JobError."""
    engine = ENGINES.get(name)
    if engine is None:
        raise JobError(f"engine: '{name}' is not known; known are {', '.join(ENGINES)}")
    if engine.device != "CPU" and not is_available(name):
        raise JobError(f"engine: '{name}' is not available, this executor has no {engine.device} simulator")
    if has_noise_model and not engine.has_noise:
        raise JobError("noise_model: this backend has no noise; use aer-noisy or aer-density-matrix")
    # A state on a GPU takes none of this memory; the simulator itself says when the card has too little.
    if engine.qubit_bytes is not None and engine.device == "CPU":
        check_fits(f"{engine.state} of {num_qubits} qubits", engine.qubit_bytes(num_qubits))
    return engine


def simulate(
    circuit: QuantumCircuit,
    engine: str,
    shots: int,
    seed: int | None,
    optimization_level: int,
    source: str | None,
    noise_model: NoiseSpec | None = None,
) -> dict[int, int]:
    """Counts by the final value of the classical bits: bit i of a key is clbit i of the circuit. At optimization level
    0, noise is applied to the gates as they were written. Equal arguments with a seed give equal counts."""
    chosen = check(engine, circuit.num_qubits, noise_model is not None)
    refuse_variables(circuit)
    circuit = without_saved_data(circuit)
    method = _noisy_method(circuit, shots, noise_model) if engine == "noisy" else chosen.method
    check_operations(circuit, method_target(method), source)
    noise = None
    if noise_model is None:
        compiled = translated_for(method, circuit, optimization_level)
    else:
        noisy, noise = with_noise(circuit, noise_model, optimization_level)
        compiled = translated_for(method, noisy, 0)
    if is_dynamic(compiled):
        compiled = widened(compiled)
    options: dict[str, Any] = {"method": method, "device": chosen.device}
    if method == "statevector" and has_channels(compiled):
        # Fusing channels into one, the simulator fails at times on a numerical decomposition.
        options["fusion_enable"] = False
    if method == mps.METHOD:
        turns = shots if _acts_after_measuring(compiled) else 1
        gates = sum(item.operation.num_qubits > 1 and item.operation.name != "barrier" for item in every_item(compiled))
        options |= mps.options(circuit.num_qubits, turns * gates)
    experiment = run(AerSimulator(**options), compiled, shots, seed, noise)
    if method == mps.METHOD:
        mps.check_exact(experiment.metadata)
    shown = (1 << circuit.num_clbits) - 1
    memory: dict[int, int] = {}
    for key, count in experiment.data.counts.items():
        value = int(key, 16) & shown
        memory[value] = memory.get(value, 0) + count
    return memory


def run(
    simulator: AerSimulator, compiled: QuantumCircuit, shots: int, seed: int | None, noise: NoiseModel | None
) -> Any:
    """The simulator's result for one circuit. Raises JobError, or MemoryError."""
    try:
        result = simulator.run(compiled, shots=shots, seed_simulator=seed, noise_model=noise).result()
    except RuntimeError as error:
        raise JobError(f"the simulator failed: {str(error)[:1000]}") from error
    if not result.success:
        status = f"{result.status} {result.results[0].status if result.results else ''}"
        if "memory" in status.lower() or "bad_alloc" in status:
            raise MemoryError
        raise JobError(f"the simulator failed: {status[:1000]}")
    return result.results[0]


def _noisy_method(circuit: QuantumCircuit, shots: int, noise_model: NoiseSpec | None) -> str:
    """The cheapest way to the same distribution: without noise a state; one density matrix for all shots costs about
    4^n a gate, a trajectory of the state for each shot 2^n; mid-circuit measurements need a simulation per shot
    anyway."""
    qubits = circuit.num_qubits
    if noise_model is None and not has_channels(circuit):
        return "statevector"
    sampled = (
        qubits <= DENSITY_MATRIX_QUBITS_MAX
        and (1 << qubits) <= shots
        and not _acts_after_measuring(circuit)
        and fits(_density_matrix_bytes(qubits))
    )
    return "density_matrix" if sampled else "statevector"


def _acts_after_measuring(circuit: QuantumCircuit) -> bool:
    """Whether anything may happen to a qubit after its measurement; composite operations with bits count as such."""
    measured: set[Any] = set()
    for item in circuit.data:
        if item.operation.name != "barrier" and not measured.isdisjoint(item.qubits):
            return True
        if isinstance(item.operation, Measure):
            measured.update(item.qubits)
        elif item.clbits or isinstance(item.operation, ControlFlowOp | Reset | Initialize):
            return True
    return False
