"""Whether a text is valid Python, without executing it."""

from __future__ import annotations

import ast
import warnings

from ..python_text import FILE_NAME
from .findings import Fault, lines_of, place

COMPILED_LENGTH_MAX = 120_000
"""The compiler's checks take a time that grows with the square of some texts (28,000 keyword arguments: 5 s). A longer
text is parsed only."""
FINALLY_DEPTH_MAX = 8
"""The compiler writes each `finally` out twice, so nesting doubles its work: 18 levels take 3.5 s."""

_TOO_DEEP = "SyntaxError: the code is nested too deeply"
_MESSAGE_MAX = 300


def read_python(code: str) -> tuple[ast.Module | None, list[Fault], bool]:
    """The syntax tree (None for text that is not Python), what is wrong, and whether the compiler has checked it too:
    only the compiler finds a `return` outside of functions and the like."""
    fault = _no_text(code)
    if fault is not None:
        return None, [fault], True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(code, FILE_NAME)
        except SyntaxError as error:
            return None, [_fault(error, error.offset)], True
        except (RecursionError, MemoryError):
            return None, [Fault(_TOO_DEEP)], True
        except ValueError as error:
            return None, [Fault(f"SyntaxError: {str(error)[:_MESSAGE_MAX]}")], True
        if len(code) > COMPILED_LENGTH_MAX or _is_deep_in_finally(tree):
            return tree, [], False
        try:
            compile(tree, FILE_NAME, "exec", dont_inherit=True)
        except SyntaxError as error:
            return tree, [_fault(error, _in_characters(code, error))], True
        except (RecursionError, MemoryError):
            return tree, [Fault(_TOO_DEEP)], True
        except ValueError as error:
            return tree, [Fault(f"SyntaxError: {str(error)[:_MESSAGE_MAX]}")], True
    return tree, [], True


def _no_text(code: str) -> Fault | None:
    """Characters that no parser accepts, wherever they stand."""
    index = code.find("\0")
    if index >= 0:
        return Fault("SyntaxError: the code contains a NUL character; remove it", *place(code, index))
    try:
        code.encode("utf-8")
    except UnicodeEncodeError as error:
        message = "SyntaxError: the code contains a lone surrogate, which is not text; remove it"
        return Fault(message, *place(code, error.start))
    return None


def _fault(error: SyntaxError, column: int | None) -> Fault:
    line = error.lineno if error.lineno and error.lineno > 0 else None
    message = f"{type(error).__name__}: {error.msg[:_MESSAGE_MAX]}"
    return Fault(message, line, None if line is None else max(1, column or 1))


def _in_characters(code: str, error: SyntaxError) -> int | None:
    """The column of an error of the compiler, which counts bytes."""
    if not error.lineno or not error.offset:
        return error.offset
    lines = lines_of(code)
    if error.lineno > len(lines):
        return error.offset
    return len(lines[error.lineno - 1].encode("utf-8")[: error.offset - 1].decode("utf-8", "ignore")) + 1


def _is_deep_in_finally(tree: ast.Module) -> bool:
    waiting: list[tuple[ast.AST, int]] = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > FINALLY_DEPTH_MAX:
            return True
        for name, value in ast.iter_fields(node):
            deeper = depth + (name == "finalbody")
            if (
                isinstance(value, list)
                and value
                and isinstance(value[0], ast.stmt | ast.excepthandler | ast.match_case)
            ):
                waiting.extend((item, deeper) for item in value)
    return False
