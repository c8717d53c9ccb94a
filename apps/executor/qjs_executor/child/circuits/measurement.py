"""Decides which classical bits the counts show and in which order, and turns the simulator's integers into bit strings.

The rule: every register that has at least one bit written somewhere in the circuit, with all its bits (0 where nothing
writes); registers in the order of their declaration; within a register bit 0 leftmost. A circuit without measurements
is measured as a whole, qubit 0 leftmost.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Any

from qiskit import ClassicalRegister, QuantumCircuit
from qiskit.circuit import Clbit, ControlFlowOp, Measure, Operation, Qubit, Store
from qiskit.circuit.classical import expr

from ..refusals import Unsupported

COUNTED_BITS_MAX = 256
LOOSE_BITS = "(no register)"
"""Stands for classical bits outside every register; no register can have this name."""


@dataclass(frozen=True)
class _Write:
    """A classical bit gets a value: from a qubit of the circuit, or (None) by other means or not always."""

    clbit: Clbit
    qubit: Qubit | None


@dataclass(frozen=True)
class MeasuredLayout:
    """`positions[i]` is the clbit index shown at place i of a bit string; `registers` says where the string splits, and
    names the qubits of a register whose every bit has one measurement that writes it."""

    positions: list[int]
    registers: list[dict[str, Any]]

    def counts(self, memory: dict[int, int]) -> dict[str, int]:
        """Counts by bit string from counts by the value of all classical bits."""
        counts: dict[str, int] = {}
        for value, count in memory.items():
            key = "".join("1" if value >> position & 1 else "0" for position in self.positions)
            counts[key] = counts.get(key, 0) + count
        return counts


def with_measurements(circuit: QuantumCircuit) -> QuantumCircuit:
    """The circuit itself if it writes a classical bit, else a copy that measures every qubit into a new register."""
    if next(_writes(circuit), None) is not None:
        return circuit
    measured = circuit.copy()
    measured.measure(measured.qubits, added_register(measured, "meas"))
    return measured


def added_register(circuit: QuantumCircuit, name: str) -> ClassicalRegister:
    """Adds a register with a bit for each qubit behind all others, under the first free name."""
    taken = {register.name for register in [*circuit.cregs, *circuit.qregs]}
    while name in taken:
        name += "_"
    register = ClassicalRegister(circuit.num_qubits, name)
    circuit.add_register(register)
    return register


def measured_layout(circuit: QuantumCircuit) -> MeasuredLayout:
    """The layout of a circuit that writes at least one classical bit."""
    sources: dict[Clbit, list[Qubit | None]] = {}
    for write in _writes(circuit):
        sources.setdefault(write.clbit, []).append(write.qubit)
    positions: list[int] = []
    registers: list[dict[str, Any]] = []
    for name, bits in _groups(circuit, sources):
        register: dict[str, Any] = {"name": name, "size": len(bits)}
        qubits = [sources[bit][0] for bit in bits if len(sources.get(bit, ())) == 1]
        if len(qubits) == len(bits) and None not in qubits:
            register["qubits"] = [circuit.find_bit(qubit).index for qubit in qubits]
        registers.append(register)
        positions += [circuit.find_bit(bit).index for bit in bits]
    if len(positions) > COUNTED_BITS_MAX:
        raise Unsupported(
            f"the registers that the circuit measures into have {len(positions)} classical bits, at most"
            f" {COUNTED_BITS_MAX} can be counted; declare as many as you measure"
        )
    return MeasuredLayout(positions, registers)


def _groups(circuit: QuantumCircuit, written: Container[Clbit]) -> Iterator[tuple[str, list[Clbit]]]:
    """The bits of every register that has a written one, in declaration order; a bit of several registers belongs to
    the first that is shown. A register that only repeats bits, as `let` makes one, is none of its own. Loose bits, each
    a register of its own, stand among the registers by their index."""
    declared: set[Clbit] = set()
    emitted: set[Clbit] = set()
    in_register = {bit for register in circuit.cregs for bit in register}
    loose = [bit for bit in circuit.clbits if bit not in in_register and bit in written]
    index = {bit: circuit.find_bit(bit).index for bit in circuit.clbits}
    for register in circuit.cregs:
        is_alias = declared.issuperset(register)
        declared.update(register)
        if is_alias or not any(bit in written for bit in register):
            continue
        bits = [bit for bit in register if bit not in emitted]
        emitted.update(bits)
        first = min(index[bit] for bit in bits)
        before = [bit for bit in loose if index[bit] < first]
        if before:
            yield LOOSE_BITS, before
            loose = [bit for bit in loose if index[bit] >= first]
        yield register.name, bits
    if loose:
        yield LOOSE_BITS, loose


def _writes(circuit: QuantumCircuit) -> Iterator[_Write]:
    """Every write to a classical bit of the circuit, including those inside control flow and composite operations."""
    for item in circuit.data:
        yield from _operation_writes(item.operation, item.qubits, item.clbits)


def _operation_writes(operation: Operation, qubits: tuple[Qubit, ...], clbits: tuple[Clbit, ...]) -> Iterator[_Write]:
    if isinstance(operation, Measure):
        yield _Write(clbits[0], qubits[0])
    elif isinstance(operation, Store):
        for bit in _stored_bits(operation):
            yield _Write(bit, None)
    elif isinstance(operation, ControlFlowOp):
        for block in operation.blocks:
            outer = dict(zip(block.clbits, clbits, strict=False))
            for write in _writes(block):
                yield _Write(outer.get(write.clbit, write.clbit), None)
    elif clbits and getattr(operation, "definition", None) is not None:
        definition = operation.definition
        outer_qubits = dict(zip(definition.qubits, qubits, strict=True))
        outer = dict(zip(definition.clbits, clbits, strict=True))
        for write in _writes(definition):
            yield _Write(outer[write.clbit], outer_qubits.get(write.qubit))


def _stored_bits(operation: Store) -> list[Clbit]:
    bits: list[Clbit] = []
    for variable in expr.iter_vars(operation.lvalue):
        if isinstance(variable.var, Clbit):
            bits.append(variable.var)
        elif isinstance(variable.var, ClassicalRegister):
            bits += list(variable.var)
    return bits
