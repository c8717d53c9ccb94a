"""What a circuit of qiskit does, exactly. The matrices of single gates are qiskit's, all else is the reference's."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit import Clbit, ForLoopOp, IfElseOp, Operation, SwitchCaseOp
from qiskit.circuit.classical import expr, types
from qiskit.circuit.controlflow import CASE_DEFAULT
from qiskit.quantum_info import Operator

from .gates import Matrix
from .reference import NEGLIGIBLE, Branch, apply, by_bits, start


def unitary(circuit: QuantumCircuit) -> Matrix:
    """The matrix of a circuit's gates, qubit 0 most significant; its measurements are left out."""
    size = 1 << circuit.num_qubits
    tensor: Matrix = np.eye(size, dtype=complex).reshape((2,) * circuit.num_qubits + (size,))
    for item in circuit.data:
        if item.operation.name not in ("measure", "barrier"):
            qubits = [circuit.find_bit(qubit).index for qubit in item.qubits]
            tensor = apply(tensor, _matrix(item.operation), qubits)
    return tensor.reshape(size, size)


def probabilities(circuit: QuantumCircuit) -> dict[str, float]:
    """Exact, by bit string: registers in order, bit 0 of each leftmost, registers that nothing writes left out."""
    bits: dict[Clbit, tuple[str, int]] = {}
    for register in circuit.cregs:
        for place, bit in enumerate(register):
            # A later register may repeat bits, as one that a condition on a slice makes.
            bits.setdefault(bit, (register.name, place))
    qubits = {bit: place for place, bit in enumerate(circuit.qubits)}
    written = {register for register, _ in _written(circuit, bits)}
    if not written:
        chances = np.abs(_run(circuit, [start(circuit.num_qubits)], qubits, bits)[0].state.ravel()) ** 2
        return {f"{k:0{circuit.num_qubits}b}": float(c) for k, c in enumerate(chances) if c > NEGLIGIBLE}
    shown = [bit for bit in bits.values() if bit[0] in written]
    return by_bits(_run(circuit, [start(circuit.num_qubits)], qubits, bits), shown)


def _matrix(operation: Operation) -> Matrix:
    return np.asarray(Operator(operation).reverse_qargs().data)


def _written(circuit: QuantumCircuit, bits: dict[Clbit, tuple[str, int]]) -> list[tuple[str, int]]:
    found = []
    for item in circuit.data:
        if item.operation.name == "measure":
            found.append(bits[item.clbits[0]])
        for block in getattr(item.operation, "blocks", ()):
            found += _written(block, _inside(block, item, bits))
    return found


def _inside(block: QuantumCircuit, item: Any, bits: dict[Clbit, tuple[str, int]]) -> dict[Clbit, tuple[str, int]]:
    return {**bits, **{inner: bits[outer] for inner, outer in zip(block.clbits, item.clbits, strict=True)}}


def _run(
    circuit: QuantumCircuit, branches: list[Branch], qubits: dict[Any, int], bits: dict[Clbit, tuple[str, int]]
) -> list[Branch]:
    for item in circuit.data:
        places = [qubits[qubit] for qubit in item.qubits]
        branches = [after for branch in branches for after in _after(item, branch, places, bits)]
    return branches


def _after(item: Any, branch: Branch, places: Sequence[int], bits: dict[Clbit, tuple[str, int]]) -> list[Branch]:
    operation = item.operation
    if operation.name == "barrier":
        return [branch]
    if operation.name == "measure":
        return branch.measured(places[0], bits[item.clbits[0]])
    if operation.name == "reset":
        return branch.reset(places[0])
    if isinstance(operation, IfElseOp):
        block = operation.blocks[0 if _holds(operation.condition, branch, bits) else 1 : None][:1]
        if not block:
            return [branch]
        return _through(block[0], item, [branch], places, bits)
    if isinstance(operation, SwitchCaseOp):
        value = _target(operation.target, branch, bits)
        for values, chosen in operation.cases_specifier():
            if any(one is CASE_DEFAULT or int(one) == value for one in values):
                return _through(chosen, item, [branch], places, bits)
        return [branch]
    if isinstance(operation, ForLoopOp):
        branches = [branch]
        for _ in operation.params[0]:
            branches = _through(operation.params[2], item, branches, places, bits)
        return branches
    return [branch.applied(_matrix(operation), places)]


def _through(
    block: QuantumCircuit, item: Any, branches: list[Branch], places: Sequence[int], bits: dict[Clbit, tuple[str, int]]
) -> list[Branch]:
    return _run(block, branches, dict(zip(block.qubits, places, strict=True)), _inside(block, item, bits))


def _target(target: Any, branch: Branch, bits: dict[Clbit, tuple[str, int]]) -> int:
    return _value(target, branch, bits) if isinstance(target, expr.Expr) else _number(target, branch, bits)


def _holds(condition: Any, branch: Branch, bits: dict[Clbit, tuple[str, int]]) -> bool:
    if isinstance(condition, expr.Expr):
        return bool(_value(condition, branch, bits))
    target, value = condition
    return _number(target, branch, bits) == int(value)


def _number(target: Any, branch: Branch, bits: dict[Clbit, tuple[str, int]]) -> int:
    own = [target] if isinstance(target, Clbit) else list(target)
    return sum(branch.bits.get(bits[bit], 0) << place for place, bit in enumerate(own))


def _value(node: expr.Expr, branch: Branch, bits: dict[Clbit, tuple[str, int]]) -> int:
    match node:
        case expr.Var():
            return _number(node.var, branch, bits)
        case expr.Value():
            return int(node.value)
        case expr.Cast():
            value = _value(node.operand, branch, bits)
            return int(value != 0) if node.type.kind is types.Bool else value & _mask(node)
        case expr.Unary() if node.op in (expr.Unary.Op.LOGIC_NOT, expr.Unary.Op.BIT_NOT):
            value = _value(node.operand, branch, bits)
            return 1 - value if node.type.kind is types.Bool else value ^ _mask(node)
        case expr.Binary() if node.op.name in _BINARY:
            return int(_BINARY[node.op.name](_value(node.left, branch, bits), _value(node.right, branch, bits)))
    raise AssertionError(f"the condition {node} has no meaning here")


def _mask(node: expr.Expr) -> int:
    return int((1 << node.type.width) - 1)


_BINARY: dict[str, Callable[[int, int], int]] = {
    "EQUAL": operator.eq,
    "NOT_EQUAL": operator.ne,
    "LESS": operator.lt,
    "LESS_EQUAL": operator.le,
    "GREATER": operator.gt,
    "GREATER_EQUAL": operator.ge,
    "BIT_AND": operator.and_,
    "BIT_OR": operator.or_,
    "BIT_XOR": operator.xor,
    "LOGIC_AND": operator.and_,
    "LOGIC_OR": operator.or_,
}
"""Truth values are 0 and 1."""
