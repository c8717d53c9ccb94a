"""Reads expressions over classical bits that are evaluated while a circuit runs, into qiskit's form of them.

Bits are truth values and registers unsigned integers, bit 0 the least significant. `resolve` gives the value of any
node of another kind, and its type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from openqasm3 import ast
from qiskit import ClassicalRegister
from qiskit.circuit import Clbit
from qiskit.circuit.classical import expr, types

from ..refusals import Unsupported
from .openqasm3_nodes import is_arithmetic

Resolve = Callable[[ast.Expression], Any]

_LOGIC = {"&&": expr.logic_and, "||": expr.logic_or}
_BITWISE = {"&": expr.bit_and, "|": expr.bit_or, "^": expr.bit_xor}
_COMPARED = {
    "==": expr.equal,
    "!=": expr.not_equal,
    "<": expr.less,
    "<=": expr.less_equal,
    ">": expr.greater,
    ">=": expr.greater_equal,
}
_RUN = frozenset(
    (
        *("BIT_AND", "BIT_OR", "BIT_XOR", "LOGIC_AND", "LOGIC_OR", "BIT_NOT", "LOGIC_NOT"),
        *("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"),
    )
)
"""The operators that the simulator evaluates."""


def condition(node: ast.Expression, resolve: Resolve) -> expr.Expr:
    """A condition. Raises Unsupported naming what it cannot be made of."""
    found = expression(node, resolve)
    if found.type.kind is not types.Bool:
        raise Unsupported("OpenQASM 3: a condition has to be true or false; compare the register with a number")
    return found


def expression(node: ast.Expression, resolve: Resolve) -> expr.Expr:
    """An expression over bits, registers and numbers."""
    if isinstance(node, ast.UnaryExpression) and node.op.name in ("!", "~"):
        operand = expression(node.expression, resolve)
        if node.op.name == "!" and operand.type.kind is not types.Bool:
            raise Unsupported("OpenQASM 3: '!' takes a bit or a comparison")
        return expr.logic_not(operand) if node.op.name == "!" else expr.bit_not(operand)
    if isinstance(node, ast.Cast):
        return _cast(node, resolve)
    if isinstance(node, ast.BinaryExpression) and not is_arithmetic(node):
        name = node.op.name
        make = _LOGIC.get(name) or _BITWISE.get(name) or _COMPARED.get(name)
        if make is None:
            raise Unsupported(f"OpenQASM 3: '{name}' in a condition is not supported; use {', '.join(_names())}")
        left, right = _alike(expression(node.lhs, resolve), expression(node.rhs, resolve), name)
        if left.type.kind is types.Bool and name in ("<", "<=", ">", ">="):
            raise Unsupported(f"OpenQASM 3: '{name}' compares registers and numbers, not bits")
        return make(left, right)
    value = resolve(node)
    if isinstance(value, list | tuple):
        raise Unsupported("OpenQASM 3: a condition on some bits of a register has to name them one by one")
    if not isinstance(value, Clbit | ClassicalRegister | bool | int) or (isinstance(value, int) and value < 0):
        raise Unsupported("OpenQASM 3: a condition consists of bits, registers and numbers that are not negative")
    return expr.lift(value)


def _cast(node: ast.Cast, resolve: Resolve) -> expr.Expr:
    operand = expression(node.argument, resolve)
    if isinstance(node.type, ast.BoolType):
        return expr.cast(operand, types.Bool())
    if isinstance(node.type, ast.UintType) and node.type.size is not None:
        return expr.cast(operand, types.Uint(resolve(node.type.size)))
    raise Unsupported("OpenQASM 3: a cast in a condition is to 'bool' or 'uint[n]'")


def refuse_unevaluated(value: object) -> None:
    """Refuses an expression that the simulator does not evaluate."""
    if not isinstance(value, expr.Expr):
        return
    unknown = isinstance(value, expr.Unary | expr.Binary) and value.op.name not in _RUN
    if unknown or not isinstance(value, expr.Unary | expr.Binary | expr.Var | expr.Value | expr.Cast):
        name = value.op.name.lower() if unknown else type(value).__name__.lower()
        raise Unsupported(f"the operation '{name}' in a condition is not available on this backend")
    for part in ("operand", "left", "right"):
        refuse_unevaluated(getattr(value, part, None))


def _alike(left: expr.Expr, right: expr.Expr, name: str) -> tuple[expr.Expr, expr.Expr]:
    """Both sides as truth values, or both as numbers: 0 and 1 beside a bit are truth values."""
    sides = [left, right]
    for place, other in ((0, right), (1, left)):
        side = sides[place]
        if other.type.kind is types.Bool and isinstance(side, expr.Value) and side.value in (0, 1):
            sides[place] = expr.lift(bool(side.value))
    for place, other in ((0, right), (1, left)):
        side = sides[place]
        if isinstance(side, expr.Value) and other.type.kind is side.type.kind is types.Uint:
            if side.value.bit_length() <= other.type.width:
                sides[place] = expr.lift(side.value, other.type)
            elif name in _BITWISE:
                raise Unsupported(f"OpenQASM 3: {side.value} has more bits than the register beside '{name}'")
    kinds = {side.type.kind for side in sides}
    if len(kinds) > 1 or (name in _LOGIC and kinds != {types.Bool}):
        what = "takes bits and comparisons" if name in _LOGIC else "takes two bits, or two registers or numbers"
        raise Unsupported(f"OpenQASM 3: '{name}' {what}")
    return sides[0], sides[1]


def _names() -> list[str]:
    return [*_LOGIC, *_BITWISE, *_COMPARED, "!", "~"]
