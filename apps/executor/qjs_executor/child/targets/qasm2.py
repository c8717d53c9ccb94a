"""Writes circuits for Quantinuum and others in OpenQASM 2, in gates of qelib1.inc.

The language has one kind of control, `if (register == number)` before one operation. A register whose bits are tested
one by one becomes registers of one bit each. The finished text is read back by qiskit's reader.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

from qiskit import QuantumCircuit
from qiskit.circuit import IfElseOp, Operation

from ..circuits.openqasm import load
from .expansion import Expansion, number_text
from .program import Compiled, Input, by_clbits
from .proof import Statement, matrix_of, operation_key, prove
from .steps import Condition, Refused, Step

NAME = "OpenQASM 2"
MEDIA_TYPE = "application/qasm"
GATES = {
    **{name: name for name in ("id", "x", "y", "z", "h", "s", "sdg", "t", "tdg", "sx", "sxdg", "rx", "ry", "rz")},
    **{name: name for name in ("cx", "cy", "cz", "ch", "crx", "cry", "crz", "swap", "ccx", "cswap", "rzz")},
    "u": "u3",
    "u3": "u3",
    "u2": "u2",
    "p": "u1",
    "u1": "u1",
    "cp": "cu1",
    "cu1": "cu1",
    "cu3": "cu3",
}
"""Names in qelib1.inc by the standard ones."""
_QUBITS = "q"
_REGISTER = re.compile(r"[a-z][A-Za-z0-9_]*")
_WORDS = frozenset(
    (
        *("barrier", "creg", "gate", "if", "include", "measure", "opaque", "qreg", "reset", "pi"),
        *("sin", "cos", "tan", "exp", "ln", "sqrt", "u0", _QUBITS, *GATES.values()),
    )
)


def compile_qasm2(given: Input) -> Compiled:
    """The program of a circuit. Raises Refused."""
    registers = _registers(given)
    cells = {clbit: cell for cell, clbit in enumerate(clbit for _, bits in registers for clbit in bits)}
    by_bits = {tuple(cells[clbit] for clbit in bits): name for name, bits in registers}
    place_of = {cells[clbit]: f"{name}[{i}]" for name, bits in registers for i, clbit in enumerate(bits)}
    steps = [_in_cells(step, cells) for step in given.steps]
    expansion = Expansion(GATES, NAME)
    lines = ["OPENQASM 2.0;", 'include "qelib1.inc";', f"qreg {_QUBITS}[{given.num_qubits}];"]
    lines += [f"creg {name}[{len(bits)}];" for name, bits in registers]
    counts = []
    for step in steps:
        test = _test(step, by_bits)
        written = [test + line for line in _lines(step, expansion, place_of)]
        lines += written
        counts.append(len(written))
    text = "\n".join(lines) + "\n"
    prove(steps, counts, read(text, given.num_qubits), NAME)
    bits = [cells[clbit] for clbit in given.positions]
    return Compiled(text, MEDIA_TYPE, by_clbits([(name, len(held)) for name, held in registers], bits))


def _registers(given: Input) -> list[tuple[str, list[int]]]:
    """The program's registers: the circuit's, but those that are tested bit by bit in pieces of one bit."""
    tested = {step.conditions[0].clbits for step in given.steps if step.conditions}
    single = {bits[0] for bits in tested if len(bits) == 1}
    found: list[tuple[str, list[int]]] = []
    taken: set[str] = set()
    for name, bits in given.registers:
        if len(bits) > 1 and single.intersection(bits) and tuple(bits) not in tested:
            pieces = [(f"{name}_{place}", [bit]) for place, bit in enumerate(bits)]
        else:
            pieces = [(name, bits)]
        for wished, held in pieces:
            own = wished if _REGISTER.fullmatch(wished) and wished not in _WORDS else "c"
            names = itertools.chain([own], (f"{own}_{number}" for number in itertools.count(1)))
            unique = next(name for name in names if name not in taken)
            taken.add(unique)
            found.append((unique, held))
    return found


def _in_cells(step: Step, cells: dict[int, int]) -> Step:
    if step.conditions and step.kind == "barrier":
        raise step.refused("stands under an if, where OpenQASM 2 has no barrier")
    conditions = tuple(
        Condition(tuple(cells[clbit] for clbit in condition.clbits), condition.value) for condition in step.conditions
    )
    clbit = None if step.clbit is None else cells[step.clbit]
    return replace(step, clbit=clbit, conditions=conditions)


def _test(step: Step, names: dict[tuple[int, ...], str]) -> str:
    if not step.conditions:
        return ""
    if len(step.conditions) > 1:
        raise step.refused("stands under two ifs, and OpenQASM 2 has one condition per operation")
    condition = step.conditions[0]
    if condition.clbits not in names:
        raise step.refused("depends on one bit of a register that is also tested as a whole; OpenQASM 2 has no such if")
    return f"if ({names[condition.clbits]} == {condition.value}) "


def _lines(step: Step, expansion: Expansion, place_of: dict[int, str]) -> list[str]:
    qubits = [f"{_QUBITS}[{qubit}]" for qubit in step.qubits]
    match step.kind:
        case "measure":
            assert step.clbit is not None
            return [f"measure {qubits[0]} -> {place_of[step.clbit]};"]
        case "reset" | "barrier":
            return [f"{step.kind} {', '.join(qubits)};"]
    lines = []
    for call in expansion.calls(step):
        angles = f"({', '.join(map(number_text, call.params))})" if call.params else ""
        lines.append(f"{GATES[call.name]}{angles} {', '.join(qubits[place] for place in call.places)};")
    return lines


def read(text: str, num_qubits: int) -> list[Statement]:
    """A program's instructions as qiskit's reader has them."""
    circuit = load(text, num_qubits, NAME, "qasm2")
    index = {bit: place for place, bit in enumerate(circuit.qubits)}
    cell = {bit: place for place, bit in enumerate(circuit.clbits)}
    found = []
    for item in circuit.data:
        operation: Operation = item.operation
        conditions: tuple[Condition, ...] = ()
        qubits, clbits = [index[bit] for bit in item.qubits], [cell[bit] for bit in item.clbits]
        if isinstance(operation, IfElseOp):
            block: QuantumCircuit = operation.blocks[0]
            register, value = operation.condition
            conditions = (Condition(tuple(cell[bit] for bit in register), int(value)),)
            if len(block.data) != 1 or len(operation.blocks) != 1:
                raise Refused("the program tests more than one operation at once", None, "if")
            outer = dict(zip(block.qubits, qubits, strict=True)), dict(zip(block.clbits, clbits, strict=True))
            item = block.data[0]
            operation = item.operation
            qubits, clbits = [outer[0][bit] for bit in item.qubits], [outer[1][bit] for bit in item.clbits]
        found.append(_found(operation, tuple(qubits), clbits, conditions))
    return found


def _found(
    operation: Operation, qubits: tuple[int, ...], clbits: list[int], conditions: tuple[Condition, ...]
) -> Statement:
    if operation.name in ("measure", "reset", "barrier"):
        return Statement(operation.name, qubits, cell=clbits[0] if clbits else None, conditions=conditions)
    key = operation_key(operation) if getattr(operation, "_standard_gate", None) is not None else None
    return Statement("gate", qubits, matrix_of(operation), key, conditions=conditions)
