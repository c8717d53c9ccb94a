"""Describes what a simulation method of qiskit-aer can execute: its operations as a transpiler's target, and refusals
by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from qiskit import QuantumCircuit
from qiskit.circuit import CircuitInstruction, ControlFlowOp, Gate, Instruction, Parameter
from qiskit.circuit.exceptions import CircuitError
from qiskit.circuit.library import get_standard_gate_name_mapping
from qiskit.exceptions import QiskitError
from qiskit.transpiler import PassManager, Target
from qiskit.transpiler.preset_passmanagers import generate_preset_pass_manager
from qiskit_aer import AerSimulator

from ..circuits.gate_names import is_standard
from ..circuits.openqasm import line_of
from ..refusals import Unsupported

CHANNELS = ("kraus", "superop", "quantum_channel")
SAVED_PREFIX = "save_"
QUBITS_MAX = 256
"""The widest circuit that the executor takes."""


@lru_cache
def method_target(method: str) -> Target:
    """Everything that the method executes, on more qubits than any circuit has: the simulator's own target depends on
    the machine's memory."""
    own = AerSimulator(method=method).target
    target = Target(num_qubits=QUBITS_MAX)
    # In a fixed order: the names are a set, and what is tried first decides between equal translations.
    for name in sorted(own.operation_names):
        target.add_instruction(own.operation_from_name(name), name=name)
    return target


def noise_target(circuit: QuantumCircuit, kept: Mapping[str, Instruction]) -> Target:
    """What stands for the hardware's gates in a noisy execution, whatever the simulator's method: every standard gate
    on one or two qubits, arbitrary unitaries, and the gates in `kept`."""
    # Of all methods this one knows the most operations.
    own = AerSimulator(method="statevector").target
    target = Target(num_qubits=circuit.num_qubits)
    standard = get_standard_gate_name_mapping()
    for name in own.operation_names:
        operation = own.operation_from_name(name)
        is_gate = isinstance(operation, Gate) or _is_gate_class(operation)
        if name == "unitary" or (not is_gate and name != "initialize"):
            target.add_instruction(operation, name=name)
    for name, gate in standard.items():
        if isinstance(gate, Gate) and gate.num_qubits <= 2 and name not in target.operation_names:
            target.add_instruction(gate, name=name)
    for name, gate in kept.items():
        if name not in target.operation_names:
            parameters = [Parameter(f"p{place}") for place in range(len(gate.params))]
            target.add_instruction(Instruction(name, gate.num_qubits, 0, parameters), name=name)
    return target


@lru_cache
def method_passes(method: str, level: int) -> PassManager:
    """The passes of an optimization level into a method's operations. Those above level 1 start threads when they are
    built, so a zygote must not."""
    return generate_preset_pass_manager(level, target=method_target(method), seed_transpiler=0)


def translated_for(method: str, circuit: QuantumCircuit, level: int) -> QuantumCircuit:
    """The circuit in a method's operations. Raises Unsupported with what has no translation."""
    return _passed(method_passes(method, level), circuit)


def translated(circuit: QuantumCircuit, target: Target, level: int) -> QuantumCircuit:
    """The circuit in the target's operations. Raises Unsupported with what has no translation."""
    return _passed(generate_preset_pass_manager(level, target=target, seed_transpiler=0), circuit)


def _passed(passes: PassManager, circuit: QuantumCircuit) -> QuantumCircuit:
    try:
        return passes.run(circuit)
    except (QiskitError, CircuitError) as error:
        raise Unsupported(f"the circuit cannot be translated for the simulator: {_text(error)}") from error


def without_saved_data(circuit: QuantumCircuit) -> QuantumCircuit:
    """The circuit without instructions that only save data of the simulator: they change no count, and not every method
    has each of them."""
    if not any(item.operation.name.startswith(SAVED_PREFIX) and is_standard(item.operation) for item in circuit.data):
        return circuit
    kept = circuit.copy_empty_like()
    for item in circuit.data:
        if not (item.operation.name.startswith(SAVED_PREFIX) and is_standard(item.operation)):
            kept._append(item)
    return kept


def check_operations(circuit: QuantumCircuit, target: Target, source: str | None, inside: bool = False) -> None:
    """Names the first operation that the method does not know, with its qubits and line. `inside`: of a block."""
    for item in circuit.data:
        operation = item.operation
        if isinstance(operation, ControlFlowOp):
            if operation.name in target.operation_names:
                for block in operation.blocks:
                    check_operations(block, target, source, inside=True)
                continue
            reason = "is not available on this backend"
        elif operation.name == "quantum_channel" and inside:
            reason = "cannot stand inside classical control on this backend"
        elif is_standard(operation) and _is_untranslatable(item) and operation.name not in target.operation_names:
            reason = "is not available on this backend"
        elif is_standard(operation) or getattr(operation, "definition", None) is not None:
            continue
        else:
            reason = "cannot be simulated: it has no definition"
        raise refusal(circuit, item, reason, source)


def refusal(circuit: QuantumCircuit, item: CircuitInstruction, reason: str, source: str | None) -> Unsupported:
    """Why an operation is refused, with its name, its qubits and its line."""
    name = item.operation.name
    qubits = ", ".join(str(circuit.find_bit(qubit).index) for qubit in item.qubits[:8])
    return Unsupported(f"operation '{name}' on qubit {qubits} {reason}", line_of(source, name))


def has_channels(circuit: QuantumCircuit) -> bool:
    """Whether the circuit contains a channel, also inside blocks."""
    return any(item.operation.name in CHANNELS for item in every_item(circuit))


def every_item(circuit: QuantumCircuit) -> Iterator[CircuitInstruction]:
    """The circuit's operations, those inside blocks included."""
    for item in circuit.data:
        yield item
        if isinstance(item.operation, ControlFlowOp):
            for block in item.operation.blocks:
                yield from every_item(block)


def _is_untranslatable(item: CircuitInstruction) -> bool:
    """Whether no translation into other operations exists, so that the method has to know the operation itself."""
    name = item.operation.name
    return name in (*CHANNELS, "store") or name.startswith("set_")


def _is_gate_class(operation: object) -> bool:
    return isinstance(operation, type) and issubclass(operation, Gate)


def _text(error: Exception) -> str:
    return str(getattr(error, "message", "") or error).strip("'\"")[:1000]
