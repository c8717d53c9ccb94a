"""Random circuits with classical control and without superposition, and an interpreter that knows their one answer.

The interpreter shares no code with the simulator: it walks the circuit and keeps a value per bit.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister
from qiskit.circuit import (
    CASE_DEFAULT,
    BreakLoopOp,
    Clbit,
    ContinueLoopOp,
    ForLoopOp,
    IfElseOp,
    SwitchCaseOp,
    WhileLoopOp,
)
from qiskit.circuit.classical import expr

from qjs_executor.child.circuits.measurement import measured_layout, with_measurements

STEPS_MAX = 2000


class Endless(Exception):
    """The circuit takes more steps than the interpreter does, perhaps infinitely many."""


def decided_circuits(seeds: Iterable[int]) -> Iterator[tuple[int, QuantumCircuit, str]]:
    """Random circuits that measure and that come to an end, each with its seed and its one bit string."""
    for seed in seeds:
        circuit = random_circuit(seed)
        if with_measurements(circuit) is not circuit:
            continue
        try:
            bits = final_bits(circuit)
        except Endless:
            continue
        yield seed, circuit, "".join(str(bits[position]) for position in measured_layout(circuit).positions)


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


def final_bits(circuit: QuantumCircuit) -> list[int]:
    """The classical bits at the end, by index. Raises Endless."""
    machine = _Machine(circuit)
    machine.run(
        circuit, {bit: i for i, bit in enumerate(circuit.qubits)}, {bit: i for i, bit in enumerate(circuit.clbits)}
    )
    return machine.clbits


def random_circuit(seed: int) -> QuantumCircuit:
    """Four qubits, two registers, blocks up to three deep."""
    dice = random.Random(seed)
    circuit = QuantumCircuit(QuantumRegister(4, "q"), ClassicalRegister(2, "a"), ClassicalRegister(3, "b"))
    _fill(circuit, dice, 3, dice.randrange(4, 10), False)
    return circuit


class _Machine:
    def __init__(self, circuit: QuantumCircuit) -> None:
        self.qubits = [0] * circuit.num_qubits
        self.clbits = [0] * circuit.num_clbits
        self.steps = 0

    def run(self, circuit: QuantumCircuit, qmap: dict[Any, int], cmap: dict[Any, int]) -> None:
        for item in circuit.data:
            self.steps += 1
            if self.steps > STEPS_MAX:
                raise Endless
            qubits = [qmap[bit] for bit in item.qubits]
            clbits = [cmap[bit] for bit in item.clbits]
            if not self._gate(item.operation, qubits, clbits, cmap):
                self._block(item.operation, qubits, clbits, cmap)

    def _gate(self, operation: Any, q: list[int], c: list[int], cmap: dict[Any, int]) -> bool:
        state = self.qubits
        match operation.name:
            case "x":
                state[q[0]] ^= 1
            case "cx":
                state[q[1]] ^= state[q[0]]
            case "ccx":
                state[q[2]] ^= state[q[0]] & state[q[1]]
            case "swap":
                state[q[0]], state[q[1]] = state[q[1]], state[q[0]]
            case "reset":
                state[q[0]] = 0
            case "measure":
                self.clbits[c[0]] = state[q[0]]
            case "store":
                self.clbits[cmap[operation.lvalue.var]] = self._value(operation.rvalue, cmap)
            case _:
                return False
        return True

    def _block(self, operation: Any, q: list[int], c: list[int], cmap: dict[Any, int]) -> None:
        def enter(block: QuantumCircuit) -> None:
            inner = {**cmap, **dict(zip(block.clbits, c, strict=True))}
            self.run(block, dict(zip(block.qubits, q, strict=True)), inner)

        if isinstance(operation, BreakLoopOp):
            raise _Break
        if isinstance(operation, ContinueLoopOp):
            raise _Continue
        if isinstance(operation, IfElseOp):
            if self._holds(operation.condition, cmap):
                enter(operation.blocks[0])
            elif len(operation.blocks) > 1:
                enter(operation.blocks[1])
        elif isinstance(operation, SwitchCaseOp):
            value = self._number(operation.target, cmap)
            for labels, block in operation.cases_specifier():
                if any(label is CASE_DEFAULT or label == value for label in labels):
                    enter(block)
                    break
        elif isinstance(operation, ForLoopOp):
            self._loop(iter(operation.params[0]), operation.blocks[0], enter)
        elif isinstance(operation, WhileLoopOp):
            turns = iter(lambda: self._holds(operation.condition, cmap), False)
            self._loop(turns, operation.blocks[0], enter)
        else:
            definition = operation.definition
            inner = dict(zip(definition.clbits, c, strict=True))
            self.run(definition, dict(zip(definition.qubits, q, strict=True)), inner)

    def _loop(self, turns: Any, block: QuantumCircuit, enter: Any) -> None:
        try:
            for _ in turns:
                self.steps += 1
                if self.steps > STEPS_MAX:
                    raise Endless
                try:
                    enter(block)
                except _Continue:
                    continue
        except _Break:
            return

    def _holds(self, condition: Any, cmap: dict[Any, int]) -> bool:
        if isinstance(condition, expr.Expr):
            return bool(self._value(condition, cmap))
        target, value = condition
        return self._number(target, cmap) == int(value)

    def _number(self, target: Any, cmap: dict[Any, int]) -> int:
        bits = [target] if isinstance(target, Clbit) else list(target)
        return sum(self.clbits[cmap[bit]] << place for place, bit in enumerate(bits))

    def _value(self, node: Any, cmap: dict[Any, int]) -> int:
        if isinstance(node, expr.Var):
            return self._number(node.var, cmap)
        if isinstance(node, expr.Value):
            return int(node.value)
        if isinstance(node, expr.Cast):
            return int(bool(self._value(node.operand, cmap)))
        if isinstance(node, expr.Unary):
            return int(not self._value(node.operand, cmap))
        left, right = self._value(node.left, cmap), self._value(node.right, cmap)
        meaning = {
            expr.Binary.Op.LOGIC_AND: left and right,
            expr.Binary.Op.BIT_XOR: left ^ right,
            expr.Binary.Op.LESS: left < right,
            expr.Binary.Op.NOT_EQUAL: left != right,
        }
        return int(meaning[node.op])


def _condition(circuit: QuantumCircuit, dice: random.Random) -> Any:
    register = dice.choice(circuit.cregs)
    number = dice.randrange(1 << len(register))
    one, other = dice.choice(circuit.clbits), dice.choice(circuit.clbits)
    return dice.choice(
        [
            (dice.choice(list(register)), dice.random() < 0.5),
            (register, number),
            expr.logic_not(one),
            expr.logic_and(one, expr.logic_not(other)),
            expr.bit_xor(one, other),
            expr.less(register, number),
            expr.not_equal(register, number),
        ]
    )


def _fill(circuit: QuantumCircuit, dice: random.Random, depth: int, size: int, in_loop: bool) -> None:
    for _ in range(size):
        qubits = dice.sample(list(circuit.qubits), 3)
        clbit = dice.choice(circuit.clbits)
        kind = dice.random()
        if kind < 0.2:
            circuit.x(qubits[0])
        elif kind < 0.32:
            circuit.cx(*qubits[:2])
        elif kind < 0.38:
            circuit.ccx(*qubits)
        elif kind < 0.42:
            circuit.swap(*qubits[:2])
        elif kind < 0.46:
            circuit.reset(qubits[0])
        elif kind < 0.64:
            circuit.measure(qubits[0], clbit)
        elif kind < 0.66:
            circuit.store(clbit, expr.logic_not(dice.choice(circuit.clbits)))
        elif kind < 0.68:
            part = QuantumCircuit(2, 1)
            part.x(0)
            part.cx(0, 1)
            part.measure(1, 0)
            circuit.append(part.to_instruction(), qubits[:2], [clbit])
        elif depth > 0 and kind < 0.8:
            with circuit.if_test(_condition(circuit, dice)) as otherwise:
                _fill(circuit, dice, depth - 1, dice.randrange(1, 4), in_loop)
            if dice.random() < 0.4:
                with otherwise:
                    _fill(circuit, dice, depth - 1, dice.randrange(1, 4), in_loop)
        elif depth > 0 and kind < 0.88:
            with circuit.for_loop(range(dice.randrange(4))):
                _fill(circuit, dice, depth - 1, dice.randrange(1, 4), True)
        elif depth > 0 and kind < 0.91:
            with circuit.while_loop(_condition(circuit, dice)):
                _fill(circuit, dice, depth - 1, dice.randrange(1, 5), True)
        elif depth > 0 and kind < 0.95:
            register = dice.choice(circuit.cregs)
            with circuit.switch(register) as case:
                for value in dice.sample(range(1 << len(register)), 2):
                    with case(value):
                        _fill(circuit, dice, depth - 1, dice.randrange(1, 3), False)
                with case(case.DEFAULT):
                    _fill(circuit, dice, depth - 1, 1, False)
        elif in_loop and kind < 0.98:
            with circuit.if_test(_condition(circuit, dice)):
                dice.choice([circuit.break_loop, circuit.continue_loop])()
