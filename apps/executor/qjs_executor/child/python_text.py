"""Reads Python without running it."""

from __future__ import annotations

import ast

from .refusals import JobError


def parsed(code: str, file_name: str) -> ast.Module:
    """The program's syntax tree. Raises JobError with the line for text that is no Python."""
    try:
        return ast.parse(code, file_name)
    except SyntaxError as error:
        raise JobError(f"{type(error).__name__}: {error.msg}", error.lineno) from None
    except (RecursionError, MemoryError):
        raise JobError("SyntaxError: the code is nested too deeply") from None
    except ValueError as error:
        raise JobError(f"SyntaxError: {error}") from None
