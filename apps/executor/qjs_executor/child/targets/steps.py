"""A circuit as a flat list of steps: gates, measurements, resets and barriers, each with its conditions. Every target's
program is written from this list and proved against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from qiskit import ClassicalRegister, QuantumCircuit
from qiskit.circuit import (
    AnnotatedOperation,
    Barrier,
    Clbit,
    ControlFlowOp,
    ForLoopOp,
    Gate,
    IfElseOp,
    Instruction,
    Measure,
    Operation,
    Reset,
)
from qiskit.circuit.classical import expr, types

STEPS_MAX = 100_000
"""Operations of a circuit: some megabytes of text, which is as much as providers take."""


class Refused(Exception):
    """A step has no faithful form. `index` is its place in the circuit, from which its line follows."""

    def __init__(self, message: str, index: int | None, name: str) -> None:
        super().__init__(message)
        self.message = message
        self.index = index
        self.name = name


@dataclass(frozen=True)
class Condition:
    """Classical bits, the least significant first, have a value. Bits are indices of the circuit's."""

    clbits: tuple[int, ...]
    value: int


@dataclass(frozen=True)
class Step:
    """One thing that happens. `kind` is gate, measure, reset or barrier; `index` the place of the circuit's operation
    that it comes from; `clbit` where a measurement goes, as an index of the circuit's classical bits."""

    kind: str
    name: str
    operation: Operation
    qubits: tuple[int, ...]
    index: int
    clbit: int | None = None
    conditions: tuple[Condition, ...] = ()

    def refused(self, why: str) -> Refused:
        """The refusal of this step."""
        return Refused(f"{self.name}{on(self.qubits)} {why}", self.index, self.name)


def on(qubits: Sequence[int]) -> str:
    """Where an operation stands, for messages."""
    if not qubits:
        return ""
    shown = ", ".join(str(qubit) for qubit in qubits[:8]) + (", ..." if len(qubits) > 8 else "")
    return f" on qubit{'s' if len(qubits) > 1 else ''} {shown}"


def steps_of(circuit: QuantumCircuit) -> list[Step]:
    """The steps of a circuit; loops of known length are written out. Raises Refused for what a list of steps cannot
    express."""
    reading = _Reading(circuit)
    for index, item in enumerate(circuit.data):
        qubits = [circuit.find_bit(qubit).index for qubit in item.qubits]
        clbits = [circuit.find_bit(clbit).index for clbit in item.clbits]
        reading.operation(item.operation, qubits, clbits, (), index)
    return reading.steps


class _Reading:
    def __init__(self, circuit: QuantumCircuit) -> None:
        self.steps: list[Step] = []
        self._outer = {clbit: circuit.find_bit(clbit).index for clbit in circuit.clbits}

    def operation(
        self,
        operation: Operation,
        qubits: list[int],
        clbits: list[int],
        conditions: tuple[Condition, ...],
        index: int,
        inner: dict[Any, int] | None = None,
    ) -> None:
        inner = self._outer if inner is None else inner
        if len(self.steps) >= STEPS_MAX:
            raise Refused(f"the circuit has more than {STEPS_MAX} operations", index, operation.name)
        if isinstance(operation, ControlFlowOp):
            self._control_flow(operation, qubits, clbits, conditions, index, inner)
            return
        kind = _kind(operation)
        step = Step(kind, operation.name, operation, tuple(qubits), index, None, conditions)
        if kind == "measure":
            self.steps.append(Step(kind, "measure", operation, tuple(qubits), index, clbits[0], conditions))
        elif kind != "gate":
            self.steps.append(step)
        elif not clbits and _is_gate(operation):
            # A global phase does not act on any qubit, and a measurement does not show it.
            self.steps += [step] if qubits else []
        else:
            definition = getattr(operation, "definition", None)
            if definition is None or operation.name == "initialize":
                raise step.refused("has no form in this target; remove it")
            self._block(definition, qubits, clbits, conditions, index)

    def _block(
        self,
        block: QuantumCircuit,
        qubits: list[int],
        clbits: list[int],
        conditions: tuple[Condition, ...],
        index: int,
    ) -> None:
        place = dict(zip(block.qubits, qubits, strict=True))
        cell = dict(zip(block.clbits, clbits, strict=True))
        for item in block.data:
            self.operation(
                item.operation,
                [place[qubit] for qubit in item.qubits],
                [cell[clbit] for clbit in item.clbits],
                conditions,
                index,
                cell,
            )

    def _control_flow(
        self,
        operation: ControlFlowOp,
        qubits: list[int],
        clbits: list[int],
        conditions: tuple[Condition, ...],
        index: int,
        inner: dict[Any, int],
    ) -> None:
        step = Step("control", operation.name, operation, tuple(qubits), index)
        if isinstance(operation, ForLoopOp):
            turns, parameter, body = operation.params
            for value in turns:
                turn = body if parameter is None else body.assign_parameters({parameter: value})
                self._block(turn, qubits, clbits, conditions, index)
        elif isinstance(operation, IfElseOp):
            condition = _condition(operation.condition, inner)
            if condition is None:
                raise step.refused(
                    "tests more than 'bit', '!bit' or 'register == number', which has no form in this target"
                )
            branches = [(condition, operation.blocks[0])]
            if len(operation.blocks) > 1:
                if len(condition.clbits) > 1:
                    raise step.refused("has an else for a whole register, which has no form in this target")
                branches.append((Condition(condition.clbits, 1 - condition.value), operation.blocks[1]))
            before = len(self.steps)
            for tested, block in branches:
                self._block(block, qubits, clbits, (*conditions, tested), index)
            self._refuse_changed_tests(step, before, condition, conditions)
        else:
            raise step.refused("has no form in this target; only 'if' and loops of known length do")

    def _refuse_changed_tests(
        self, step: Step, before: int, condition: Condition, conditions: tuple[Condition, ...]
    ) -> None:
        """Every step tests the condition again, so only the very last of a block may change what is tested."""
        tested = {clbit for one in (condition, *conditions) for clbit in one.clbits}
        for place in self.steps[before:-1]:
            if place.clbit in tested:
                raise step.refused("measures into a bit that it tests before its end, which has no form in this target")


def _kind(operation: Operation) -> str:
    if isinstance(operation, Measure):
        return "measure"
    if isinstance(operation, Reset):
        return "reset"
    return "barrier" if isinstance(operation, Barrier) else "gate"


def _is_gate(operation: Operation) -> bool:
    """Whether an operation is unitary, as far as its type says; other operations have to consist of unitary ones."""
    return isinstance(operation, Gate | AnnotatedOperation) or not isinstance(operation, Instruction)


def _condition(tested: Any, cells: dict[Any, int]) -> Condition | None:
    """A condition on bits, from either of qiskit's forms; None for any other."""
    if isinstance(tested, tuple):
        target, value = tested
        return _on(target, int(value), cells)
    if isinstance(tested, expr.Unary) and tested.op in (expr.Unary.Op.LOGIC_NOT, expr.Unary.Op.BIT_NOT):
        inner = _bare(tested.operand)
        if isinstance(inner, expr.Var) and isinstance(inner.var, Clbit):
            return _on(inner.var, 0, cells)
        return None
    if isinstance(tested, expr.Binary) and tested.op is expr.Binary.Op.EQUAL:
        for target, value in ((tested.left, tested.right), (tested.right, tested.left)):
            target, value = _bare(target), _bare(value)
            if isinstance(target, expr.Var) and isinstance(value, expr.Value):
                return _on(target.var, int(value.value), cells)
        return None
    tested = _bare(tested)
    return _on(tested.var, 1, cells) if isinstance(tested, expr.Var) and isinstance(tested.var, Clbit) else None


def _bare(node: Any) -> Any:
    """A number or register without casts that keep its value; one to fewer bits, or to a truth value, does not."""
    while isinstance(node, expr.Cast):
        to, of = node.type, node.operand.type
        if not (to.kind is of.kind is types.Uint and to.width >= of.width):
            return node
        node = node.operand
    return node


def _on(target: Any, value: int, cells: dict[Any, int]) -> Condition | None:
    bits = [target] if isinstance(target, Clbit) else list(target) if isinstance(target, ClassicalRegister) else None
    if not bits or not 0 <= value < 1 << len(bits) or any(bit not in cells for bit in bits):
        return None
    return Condition(tuple(cells[bit] for bit in bits), value)
