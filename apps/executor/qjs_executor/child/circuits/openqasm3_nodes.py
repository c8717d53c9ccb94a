"""What the reader of OpenQASM 3 asks of the nodes of a program, before it makes anything of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from openqasm3 import ast


def is_evaluated(node: ast.Expression) -> bool:
    """Whether an operand is an expression over bits, not a bit, a register or an arithmetic constant."""
    if isinstance(node, ast.UnaryExpression):
        return bool(node.op.name != "-")
    return isinstance(node, ast.Cast | ast.BinaryExpression) and not is_arithmetic(node)


def is_arithmetic(node: ast.Expression) -> bool:
    """Whether an expression is arithmetic on constants: names without an index."""
    return (
        isinstance(node, ast.BinaryExpression)
        and node.op.name in ("+", "-", "*", "/")
        and not any(isinstance(inner, ast.IndexExpression | ast.IndexedIdentifier) for inner in nodes(node))
    )


def nodes(root: Any) -> Iterator[ast.QASMNode]:
    """Every node below a node or list of nodes, itself included."""
    if isinstance(root, list | tuple):
        for item in root:
            yield from nodes(item)
    elif isinstance(root, ast.QASMNode):
        yield root
        for field in dataclasses.fields(root):
            if field.name != "span":
                yield from nodes(getattr(root, field.name))


def is_integer(statement: ast.QASMNode) -> bool:
    """Whether a statement declares an integer variable."""
    return isinstance(statement, ast.ClassicalDeclaration) and isinstance(statement.type, ast.IntType | ast.UintType)


def leaves_loop(statements: list[Any]) -> bool:
    """Whether a break or continue among the statements belongs to the loop around them."""
    for statement in statements:
        if isinstance(statement, ast.BreakStatement | ast.ContinueStatement):
            return True
        if isinstance(statement, ast.BranchingStatement) and leaves_loop(
            [*statement.if_block, *(statement.else_block or [])]
        ):
            return True
        if isinstance(statement, ast.Box) and leaves_loop(list(statement.body)):
            return True
    return False


def is_control(modifier: ast.QuantumGateModifier) -> bool:
    """Whether a modifier adds control qubits."""
    return modifier.modifier in (ast.GateModifierName.ctrl, ast.GateModifierName.negctrl)


def shows_phase(modifier: ast.QuantumGateModifier) -> bool:
    """Whether a modifier makes the global phase of its gate visible."""
    if modifier.modifier is not ast.GateModifierName.pow:
        return modifier.modifier is not ast.GateModifierName.inv
    exponent = modifier.argument
    while isinstance(exponent, ast.UnaryExpression):
        exponent = exponent.expression
    return not isinstance(exponent, ast.IntegerLiteral)


def uses_gate(call: ast.QuantumGate, names: set[str]) -> bool:
    """Whether a call applies one of the named gates; U with the literal angle 0 has no phase."""
    if call.name.name not in names:
        return False
    first = call.arguments[0] if call.arguments else None
    is_zero = isinstance(first, ast.IntegerLiteral | ast.FloatLiteral) and first.value == 0
    return not (call.name.name == "U" and is_zero)
