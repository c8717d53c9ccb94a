"""What a circuit of qiskit does, exactly. The matrices of single gates are qiskit's, all else is the reference's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit import Clbit, IfElseOp, Operation
from qiskit.circuit.classical import expr
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
    bits = {bit: (register.name, place) for register in circuit.cregs for place, bit in enumerate(register)}
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
        qubits = dict(zip(block[0].qubits, places, strict=True))
        return _run(block[0], [branch], qubits, _inside(block[0], item, bits))
    return [branch.applied(_matrix(operation), places)]


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
        case expr.Unary() if (
            node.op in (expr.Unary.Op.LOGIC_NOT, expr.Unary.Op.BIT_NOT) and node.type.kind is expr.types.Bool
        ):
            return 1 - _value(node.operand, branch, bits)
        case expr.Binary() if node.op is expr.Binary.Op.EQUAL:
            return int(_value(node.left, branch, bits) == _value(node.right, branch, bits))
    raise AssertionError(f"the condition {node} has no meaning here")
