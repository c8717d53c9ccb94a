"""Puts classical control flow into the one form that the simulator executes faithfully.

The simulator turns blocks into marks and jumps on the qubits that a block names, then sorts operations by the wires
they share. An operation on other wires may slip into or out of a block, which gives wrong counts, endless loops or load
errors. When every block spans every wire, nothing can slip.
"""

from __future__ import annotations

from qiskit import QuantumCircuit
from qiskit.circuit import Clbit, ControlFlowOp, IfElseOp, Store, WhileLoopOp
from qiskit.circuit.classical import expr

from ..refusals import Unsupported
from .runtime_expressions import refuse_unevaluated


def is_dynamic(circuit: QuantumCircuit) -> bool:
    """Whether the circuit's operations may depend on classical bits."""
    return any(isinstance(item.operation, ControlFlowOp | Store) for item in circuit.data)


def widened(circuit: QuantumCircuit) -> QuantumCircuit:
    """A dynamic circuit with every block on every wire, and one more classical bit with a measurement at the end:
    without any measurement outside blocks that never run, the simulator reports no classical bits at all."""
    wide = _widened_block(circuit)
    last = Clbit()
    wide.add_bits([last])
    wide.barrier()
    wide.measure(wide.qubits[0], last)
    return wide


def refuse_variables(circuit: QuantumCircuit) -> None:
    """Refuses classical variables other than bits and registers, which the simulator does not keep faithfully, and
    conditions that it does not evaluate."""
    names = [variable.name for variable in circuit.iter_vars()] + [item.name for item in circuit.iter_stretches()]
    if names:
        raise Unsupported(
            f"the classical variable '{names[0]}' is not available on this backend; use bits and registers"
        )
    for item in circuit.data:
        if isinstance(item.operation, ControlFlowOp):
            refuse_unevaluated(getattr(item.operation, "condition", None))
            if isinstance(getattr(item.operation, "target", None), expr.Expr) and not isinstance(
                item.operation.target, expr.Var
            ):
                raise Unsupported(
                    "a switch over an expression is not available on this backend; switch over a register"
                )
            for block in item.operation.blocks:
                refuse_variables(block)


def _never_holds(operation: ControlFlowOp) -> bool:
    """Whether a register is compared with a number that it cannot have: the simulator compares its lowest bits alone,
    so that 2 would equal 0 in a register of one bit."""
    condition = getattr(operation, "condition", None)
    if not isinstance(operation, IfElseOp | WhileLoopOp) or not isinstance(condition, tuple):
        return False
    target, value = condition
    size = 1 if isinstance(target, Clbit) else len(target)
    return bool(int(value) >> size)


def _widened_block(circuit: QuantumCircuit) -> QuantumCircuit:
    wide = circuit.copy_empty_like()
    for item in circuit.data:
        operation = item.operation
        if not isinstance(operation, ControlFlowOp) or not operation.blocks:
            wide._append(item)
            continue
        if _never_holds(operation):
            if isinstance(operation, IfElseOp) and len(operation.blocks) > 1:
                wide.compose(_widened_block(operation.blocks[1]), item.qubits, item.clbits, inplace=True)
            continue
        blocks = []
        for block in operation.blocks:
            outer = circuit.copy_empty_like()
            outer.global_phase = 0
            # compose also translates the conditions inside the block to the outer bits.
            outer.compose(block, item.qubits, item.clbits, inplace=True)
            blocks.append(_widened_block(outer))
        wide._append(item.replace(operation=operation.replace_blocks(blocks), qubits=wide.qubits, clbits=wide.clbits))
    return wide
