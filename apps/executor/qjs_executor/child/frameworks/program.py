"""Writes an OpenQASM 3 program operation by operation, and proves that it does what the framework specifies.

Exporters round numbers, drop what they do not know and differ in the order of qubits. So every operation is written
together with the matrix that its own framework gives for it; `Program.proven` reads the finished text back with the
reader that will execute it and compares the two, operation by operation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from qiskit import QuantumCircuit, transpile
from qiskit.circuit import ControlledGate, IfElseOp
from qiskit.circuit.library import UnitaryGate
from qiskit.quantum_info import Operator
from qiskit.synthesis import OneQubitEulerDecomposer

from ..circuits.matrix_circuits import SAME, further_syntheses
from ..circuits.openqasm import load
from ..refusals import JobError, Unsupported
from ..targets.matrices import controlled as under_controls

Matrix = np.ndarray[Any, np.dtype[np.complex128]]

QUBITS_MAX = 4096
"""Limit of a program's qubits; no backend has as many, but an index of 10^9 would exhaust the memory."""
PROVEN_QUBITS_MAX = 8
"""Widest operation whose matrix is compared; wider ones have to be decomposed first."""
DECOMPOSED_QUBITS_MAX = 4
"""Widest gate with controls that is written without them; ten controls taken apart are thousands of gates."""
SYNTHESISED_QUBITS_MAX = 6
"""Widest matrix that is turned into gates; seven qubits become some 16 000 of them."""
TOLERANCE = 1e-7
"""Per matrix element, far below what any number of shots can show."""

STANDARD_GATES = (
    *("id", "x", "y", "z", "h", "s", "sdg", "t", "tdg", "sx", "p", "rx", "ry", "rz", "u3"),
    *("cx", "cy", "cz", "ch", "cp", "crx", "cry", "crz", "swap", "ccx", "cswap"),
)
"""Gates that "stdgates.inc" and qiskit call by the same name."""

_QUBIT = re.compile(r"q\[(\d+)\]")


@dataclass(frozen=True)
class Condition:
    """A condition: a register (or one of its bits) has, or does not have, a value. A register's bit 0 is its least
    significant."""

    register: str
    bit: int | None
    value: int
    holds: bool = True


@dataclass(frozen=True)
class _Step:
    name: str
    statements: list[str]
    qubits: list[int]
    matrix: Matrix | None
    conditions: tuple[Condition, ...]
    clbit: tuple[str, int] | None = None
    from_zero: bool = False
    controls: tuple[int, ...] = ()


class Program:
    """Grows by one operation a call. Qubits are indices; the first qubit of an operation is the most significant of its
    matrix, which counts up to a global phase. Statements name their qubits by place: `cx {0}, {1};`."""

    def __init__(self, num_qubits: int) -> None:
        if num_qubits > QUBITS_MAX:
            raise Unsupported(f"the circuit uses {num_qubits} qubits, at most {QUBITS_MAX} are possible")
        if num_qubits == 0:
            raise JobError("the circuit has no qubits: apply at least one gate or measurement")
        self._num_qubits = num_qubits
        self._registers: dict[str, int] = {}
        self._steps: list[_Step] = []

    @property
    def num_qubits(self) -> int:
        return self._num_qubits

    def gate(
        self,
        name: str,
        statements: list[str],
        qubits: Sequence[int],
        matrix: Matrix | None,
        conditions: tuple[Condition, ...] = (),
        from_zero: bool = False,
        controls: tuple[int, ...] = (),
    ) -> None:
        """A unitary. `from_zero`: `matrix` is only its first column, as qubits known to be 0 are prepared. `controls`:
        `matrix` is that of the qubits after the first ones, done when those have these values."""
        self._steps.append(_Step(name, statements, list(qubits), matrix, conditions, None, from_zero, controls))

    def register(self, size: int, wished: str = "c") -> str:
        """Declares a classical register; its name is the wished one or that with a number."""
        name = wished
        while name in self._registers:
            name = f"{wished}{len(self._registers)}"
        self._registers[name] = size
        return name

    def measure(self, qubit: int, register: str, bit: int) -> None:
        self._steps.append(_Step("measure", [], [qubit], None, (), (register, bit)))

    def reset(self, qubit: int, conditions: tuple[Condition, ...] = ()) -> None:
        self._steps.append(_Step("reset", ["reset {0};"], [qubit], None, conditions))

    def barrier(self, qubits: Sequence[int]) -> None:
        places = ", ".join(f"{{{place}}}" for place in range(len(qubits)))
        self._steps.append(_Step("barrier", [f"barrier {places};"], list(qubits), None, ()))

    def text(self) -> str:
        """The program as it stands."""
        lines = ["OPENQASM 3.0;", 'include "stdgates.inc";', f"qubit[{self._num_qubits}] q;"]
        lines += [f"bit[{size}] {name};" for name, size in self._registers.items()]
        for step in self._steps:
            lines += _lines(step)
        return "\n".join(lines) + "\n"

    def proven(self) -> str:
        """The program, read back and compared with every operation's matrix. Raises Unsupported naming the operation
        that the text does not do."""
        return self._proven()[0]

    def _proven(self) -> tuple[str, QuantumCircuit]:
        """The same, with the circuit that was read back."""
        text = self.text()
        circuit = load(text, self._num_qubits, "the program", "qasm3")
        instructions = iter(circuit.data)
        known: set[Any] = set()
        for step in self._steps:
            found = _found(circuit, step, instructions)
            if found is None or not _does(step, found, known):
                raise unfaithful(step.name, step.qubits)
        if next(instructions, None) is not None:
            raise unfaithful("the end of the program", [])
        return text, circuit


def unfaithful(name: str, qubits: Sequence[object]) -> Unsupported:
    """The refusal of an operation that OpenQASM 3 cannot express as the framework means it."""
    return Unsupported(f"{name}{on(qubits)} cannot be written in OpenQASM 3 without changing what it does")


def on(qubits: Sequence[object]) -> str:
    """Where an operation stands, for messages."""
    if not qubits:
        return ""
    shown = ", ".join(str(qubit) for qubit in qubits[:8]) + (", ..." if len(qubits) > 8 else "")
    return f" on qubit{'s' if len(qubits) > 1 else ''} {shown}"


def faithful(statements: list[str], matrix: Matrix) -> bool:
    """Whether statements do exactly what a matrix on their qubits says, up to a global phase. Exporters leave out what
    they take for rounding: Cirq's the interaction of a controlled rotation by 1e-5."""
    program = Program(int(matrix.shape[0]).bit_length() - 1)
    program.gate("gate", statements, range(program.num_qubits), matrix)
    try:
        _, circuit = program._proven()
    except JobError:
        return False
    return _equal_up_to_phase(np.asarray(Operator(circuit.reverse_bits()).data), matrix, SAME)


def controlled(statements: list[str], matrix: Matrix, values: Sequence[int]) -> list[str] | None:
    """Statements for a gate behind controls that have to have these values, controls first; None when there are none
    that do the matrix with its phase, which controls turn into something that shows."""
    if not _exact(_behind(1, statements), under_controls(matrix, 1)):
        if matrix.shape != (2, 2):
            return None
        statements = _with_phase(matrix)
    flips = [f"x {{{place}}};" for place, value in enumerate(values) if not value]
    return [*flips, *_behind(len(values), statements), *flips]


def _behind(controls: int, statements: list[str]) -> list[str]:
    """The statements with control qubits, which come first."""
    # One modifier for all controls: the reader's work grows exponentially with the number of modifiers.
    places = ", ".join(f"{{{place}}}" for place in range(controls))
    moved = [re.sub(r"\{(\d+)\}", lambda found: f"{{{int(found[1]) + controls}}}", s) for s in statements]
    return [f"ctrl({controls}) @ {statement.replace(' {', f' {places}, {{', 1)}" for statement in moved]


def _exact(statements: list[str], matrix: Matrix) -> bool:
    """Whether the reader takes statements for what a matrix on their qubits says, its phase included. It refuses gates
    whose phase is not read alike everywhere."""
    size = int(matrix.shape[0]).bit_length() - 1
    program = Program(size)
    program.gate("gate", statements, range(size), matrix)
    try:
        whole = np.asarray(Operator(load(program.text(), size, "the gate", "qasm3").reverse_bits()).data)
    except JobError:
        return False
    return whole.shape == matrix.shape and bool(np.allclose(whole, matrix, rtol=0, atol=TOLERANCE))


def _with_phase(matrix: Matrix) -> list[str]:
    """Statements for a matrix on one qubit, its phase included."""
    theta, phi, lam, phase = map(float, OneQubitEulerDecomposer("ZYZ").angles_and_phase(matrix))
    turned = [f"p({phase!r}) {{0}};", "x {0};"] if abs(phase) > TOLERANCE / 10 else []
    return [f"rz({lam!r}) {{0}};", f"ry({theta!r}) {{0}};", f"rz({phi!r}) {{0}};", *turned, *turned]


def statements_of(program: str) -> list[str]:
    """The gate calls of an exporter's program whose qubits are `q[0]`, `q[1]`, ..., by place."""
    found: list[str] = []
    for line in program.splitlines():
        if line.startswith(("OPENQASM", "include", "qubit", "qreg", "creg", "//")):
            continue
        for statement in line.split(";"):
            # A global phase does not affect any result, and the reader stores it separately from the operations.
            if statement.strip() and not statement.lstrip().startswith("gphase"):
                # "stdgates.inc" has no sxdg, which Cirq writes.
                own = re.sub(r"^sxdg\b", "inv @ sx", statement.strip())
                found.append(_QUBIT.sub(r"{\1}", own) + ";")
    return found


def synthesised(name: str, qubits: Sequence[object], matrix: Matrix) -> list[str]:
    """Statements for a unitary matrix, by qiskit's synthesis."""
    size = int(matrix.shape[0]).bit_length() - 1
    if size > SYNTHESISED_QUBITS_MAX:
        raise Unsupported(
            f"{name}{on(qubits)} has no decomposition, and matrices of more than {SYNTHESISED_QUBITS_MAX} qubits are"
            " not turned into gates"
        )
    left, scales, right = np.linalg.svd(matrix)
    if not np.allclose(scales, 1, rtol=0, atol=TOLERANCE):
        raise Unsupported(f"{name}{on(qubits)} is not unitary")
    # Single-precision matrices are unitary only roughly: the nearest unitary is meant.
    nearest = left @ right
    first: list[str] | None = None
    for circuit in _syntheses(nearest, size):
        statements = written(circuit, ("u3", "cx"))
        if faithful(statements, nearest):
            return statements
        first = first or statements
    return first or []


def _syntheses(matrix: Matrix, size: int) -> Iterator[QuantumCircuit]:
    """Ways to write a unitary, the usual one first. Here the first qubit is its most significant one."""
    backwards = list(reversed(range(size)))
    usual = QuantumCircuit(size)
    usual.append(UnitaryGate(matrix), backwards)
    yield usual
    for further in further_syntheses(matrix):
        circuit = QuantumCircuit(size)
        circuit.compose(further, backwards, inplace=True)
        yield circuit


def written(circuit: QuantumCircuit, gates: Sequence[str] = STANDARD_GATES) -> list[str]:
    """Statements for a qiskit circuit in some gates of "stdgates.inc", with all digits of its angles."""
    translated = transpile(circuit, basis_gates=list(gates), optimization_level=0, seed_transpiler=0)
    statements = []
    for item in translated.data:
        places = ", ".join(f"{{{translated.find_bit(qubit).index}}}" for qubit in item.qubits)
        angles = ", ".join(repr(float(value)) for value in item.operation.params)
        statements.append(f"{item.operation.name}{f'({angles})' if angles else ''} {places};")
    return statements


def _lines(step: _Step) -> list[str]:
    if step.clbit is not None:
        return [f"{step.clbit[0]}[{step.clbit[1]}] = measure q[{step.qubits[0]}];"]
    names = [f"q[{qubit}]" for qubit in step.qubits]
    body = [statement.format(*names) for statement in step.statements]
    if not step.conditions or not body:
        return body
    opening = " ".join(_opening(condition) for condition in step.conditions)
    return [f"{opening} {' '.join(body)} {'} ' * len(step.conditions)}".rstrip()]


def _opening(condition: Condition) -> str:
    if condition.bit is not None:
        bit = f"{condition.register}[{condition.bit}]"
        return f"if ({bit if bool(condition.value) == condition.holds else '!' + bit}) {{"
    test = f"if ({condition.register} == {condition.value}) {{"
    return test if condition.holds else test + " } else {"


def _found(circuit: QuantumCircuit, step: _Step, instructions: Iterator[Any]) -> list[tuple[Any, list[int]]] | None:
    """The operations, with places among the step's qubits, that stand in the text for a step; None if others do."""
    found = []
    if step.conditions and step.statements:
        outer = next(instructions, None)
        block = circuit
        mapping = {qubit: circuit.find_bit(qubit).index for qubit in circuit.qubits}
        for condition in step.conditions:
            if outer is None or not isinstance(outer.operation, IfElseOp):
                return None
            if not _tests(circuit, outer.operation, condition):
                return None
            block = outer.operation.blocks[_branch(condition)]
            mapping = {inner: mapping[q] for inner, q in zip(block.qubits, outer.qubits, strict=True)}
            outer = next(iter(block.data), None)
        items = [(item, [mapping[qubit] for qubit in item.qubits]) for item in block.data]
        if len(items) != len(step.statements):
            return None
    else:
        items = []
        for _ in range(1 if step.clbit is not None else len(step.statements)):
            item = next(instructions, None)
            if item is None:
                return None
            items.append((item, [circuit.find_bit(qubit).index for qubit in item.qubits]))
    for item, qubits in items:
        if not set(qubits) <= set(step.qubits):
            return None
        if step.clbit is not None:
            register, bit = step.clbit
            places = [circuit.find_bit(clbit).registers for clbit in item.clbits]
            if [[(r.name, index) for r, index in place] for place in places] != [[(register, bit)]]:
                return None
        found.append((item.operation, [step.qubits.index(qubit) for qubit in qubits]))
    return found


def _branch(condition: Condition) -> int:
    return 0 if condition.bit is not None or condition.holds else 1


def _tests(circuit: QuantumCircuit, operation: IfElseOp, condition: Condition) -> bool:
    target, value = operation.condition if isinstance(operation.condition, tuple) else (None, None)
    if condition.bit is None:
        register = next((r for r in circuit.cregs if r.name == condition.register), None)
        return target == register and int(value) == condition.value
    register = next(r for r in circuit.cregs if r.name == condition.register)
    return target == register[condition.bit] and bool(value) == (bool(condition.value) == condition.holds)


def _does(step: _Step, found: list[tuple[Any, list[int]]], known: set[Any]) -> bool:
    """Whether the operations that were found do what the step does."""
    if step.clbit is not None or step.name in ("reset", "barrier"):
        return len(found) == 1 and found[0][0].name == step.name
    if step.matrix is None:
        return False
    if step.controls:
        return _does_controlled(step, step.matrix, found)
    size = len(step.qubits)
    if size > PROVEN_QUBITS_MAX:
        return False
    plain = all(operation.name != "annotated" for operation, _ in found)
    key = (
        tuple((op.name, *map(float, op.params), *places) for op, places in found) if plain else id(step),
        step.matrix.tobytes(),
    )
    if key in known:
        return True
    part = QuantumCircuit(size)
    for operation, places in found:
        part.append(operation, [size - 1 - place for place in places])
    matrix = np.asarray(Operator(part).data)
    if step.from_zero:
        matrix = matrix[:, 0]
    if matrix.shape != step.matrix.shape or not _equal_up_to_phase(matrix, step.matrix):
        return False
    known.add(key)
    return True


def _does_controlled(step: _Step, matrix: Matrix, found: list[tuple[Any, list[int]]]) -> bool:
    """The same for a gate with controls, however many, between flips of those that have to be 0: each operation has
    these controls first, and what it does below them makes up the matrix, its phase included."""
    count = len(step.controls)
    size = len(step.qubits) - count
    flips = [("x", [place]) for place, value in enumerate(step.controls) if not value]
    inner = found[len(flips) : len(found) - len(flips)]
    around = [*found[: len(flips)], *found[len(found) - len(flips) :]] if len(found) >= 2 * len(flips) else []
    if [(operation.name, places) for operation, places in around] != [*flips, *flips]:
        return False
    part = QuantumCircuit(size)
    for operation, places in inner:
        if not isinstance(operation, ControlledGate) or places[:count] != list(range(count)):
            return False
        further = operation.num_ctrl_qubits - count
        if further < 0 or operation.ctrl_state != (1 << operation.num_ctrl_qubits) - 1:
            return False
        base = operation.base_gate.control(further) if further else operation.base_gate
        part.append(base, [size - 1 - (place - count) for place in places[count:]])
    return bool(np.allclose(np.asarray(Operator(part).data), matrix, rtol=0, atol=TOLERANCE))


def _equal_up_to_phase(left: Matrix, right: Matrix, tolerance: float = TOLERANCE) -> bool:
    overlap = np.vdot(right, left)
    if abs(overlap) < TOLERANCE:
        return False
    return bool(np.allclose(left, right * (overlap / abs(overlap)), rtol=0, atol=tolerance))
