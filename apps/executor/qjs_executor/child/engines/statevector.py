"""The engine `statevector`: qiskit-aer's full state simulation, sampled."""

from __future__ import annotations

import os

from qiskit import QuantumCircuit, transpile
from qiskit.circuit import ControlFlowOp
from qiskit.circuit.exceptions import CircuitError
from qiskit.exceptions import QiskitError
from qiskit.transpiler import Target
from qiskit_aer import AerSimulator

from ...sandbox.confinement import allow_engine_memory
from ..circuits.control_flow import is_dynamic, refuse_variables, widened
from ..circuits.gate_names import is_standard
from ..circuits.openqasm import line_of
from ..refusals import JobError, Unsupported

GIB = 1024**3
BYTES_PER_AMPLITUDE = 16
HEADROOM_BYTES = 256 * 1024**2
"""What the simulator and the transpiler allocate beside the state."""


def check_memory(num_qubits: int) -> None:
    """Refuses a state that cannot fit, before anything is allocated."""
    needed = BYTES_PER_AMPLITUDE << num_qubits
    limit = allow_engine_memory()
    free = limit - _address_space() - HEADROOM_BYTES
    if needed > free:
        fits = 1 << max(free, 1).bit_length() - 1
        raise JobError(f"memory: a state of {num_qubits} qubits needs {_size(needed)}, limit {_size(min(fits, limit))}")


def simulate(
    circuit: QuantumCircuit, shots: int, seed: int | None, optimization_level: int, source: str | None
) -> dict[int, int]:
    """Counts by the final value of the classical bits: bit i of a key is clbit i of the circuit."""
    simulator = AerSimulator(method="statevector")
    # Read once: the property builds the target anew on every access.
    target = simulator.target
    refuse_variables(circuit)
    _check_operations(circuit, target, source)
    try:
        compiled = transpile(circuit, target=target, optimization_level=optimization_level, seed_transpiler=seed)
    except (QiskitError, CircuitError) as error:
        raise Unsupported(f"the circuit cannot be translated for the simulator: {_text(error)}") from error
    if is_dynamic(compiled):
        compiled = widened(compiled)
    result = simulator.run(compiled, shots=shots, seed_simulator=seed).result()
    if not result.success:
        status = f"{result.status} {result.results[0].status if result.results else ''}"
        if "memory" in status.lower():
            raise MemoryError
        raise JobError(f"the simulator failed: {status[:1000]}")
    shown = (1 << circuit.num_clbits) - 1
    memory: dict[int, int] = {}
    for key, count in result.data(0)["counts"].items():
        value = int(key, 16) & shown
        memory[value] = memory.get(value, 0) + count
    return memory


def _check_operations(circuit: QuantumCircuit, target: Target, source: str | None) -> None:
    """Names the first operation that the simulator has no meaning for, with its qubits and line."""
    for item in circuit.data:
        operation = item.operation
        if isinstance(operation, ControlFlowOp):
            if operation.name in target.operation_names:
                continue
            reason = "is not available on this backend"
        elif is_standard(operation) or getattr(operation, "definition", None) is not None:
            continue
        else:
            reason = "cannot be simulated: it has no definition"
        qubits = ", ".join(str(circuit.find_bit(qubit).index) for qubit in item.qubits[:8])
        raise Unsupported(f"operation '{operation.name}' on qubit {qubits} {reason}", line_of(source, operation.name))


def _address_space() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _size(size: int) -> str:
    return f"{size / GIB:g} GiB" if size >= GIB else f"{size / 1024**2:g} MiB"


def _text(error: Exception) -> str:
    return str(getattr(error, "message", "") or error).strip("'\"")[:1000]
