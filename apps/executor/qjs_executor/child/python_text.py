"""Reads Python without running it."""

from __future__ import annotations

import ast
import types

from .refusal_hints import syntax_hint
from .refusals import JobError

FILE_NAME = "<job>"
"""The user's source in tracebacks."""


def parsed(code: str) -> ast.Module:
    """The program's syntax tree. Raises JobError with the line for text that is not Python."""
    try:
        # Editors on some systems put a byte order mark before the first line.
        return ast.parse(code.removeprefix("\ufeff"), FILE_NAME)
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        raise _refusal(error) from None


def compiled(tree: ast.Module) -> types.CodeType:
    """The compiled program. Raises JobError with the line for errors that only compiling finds."""
    try:
        return compile(tree, FILE_NAME, "exec", dont_inherit=True)
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        raise _refusal(error) from None


def _refusal(error: Exception) -> JobError:
    if isinstance(error, SyntaxError):
        hint = syntax_hint(error.text or "", error.msg)
        return JobError(f"{type(error).__name__}: {error.msg}{hint}", error.lineno)
    if isinstance(error, RecursionError | MemoryError):
        return JobError("SyntaxError: the code is nested too deeply")
    return JobError(f"SyntaxError: {error}")
