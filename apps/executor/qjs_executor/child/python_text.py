"""Reads Python without running it."""

from __future__ import annotations

import ast
import re
import types
import warnings

from .refusal_hints import syntax_hint
from .refusals import JobError

FILE_NAME = "<job>"
"""The user's source in tracebacks."""
LINES_READ, LINE_READ = 500, 1000
"""How many lines, and how long ones, are looked at in a text that does not parse."""
_PROMPT = re.compile(r"\s*(?:>>>|\.\.\.|(?:In|Out) ?\[\d*\]:)")
_PYTHON_LINE = re.compile(
    r"from\s+\.*\w[\w.]*\s+import\s|import\s+\w[\w.]*(?:\s*(?:[,#]|as\s)|\s*$)|(?:async\s+)?def\s+\w+\s*\(.*:"
    r"|class\s+\w+\s*[:(]|[A-Za-z_]\w*\s*=\s*[A-Za-z_][\w.]*\("
)
"""The beginning of a statement of Python, also where its line has a mistake."""


def parsed(code: str) -> ast.Module:
    """The program's syntax tree. Raises JobError with the line for text that is not Python."""
    try:
        # Editors on some systems put a byte order mark before the first line.
        return ast.parse(code.removeprefix("\ufeff"), FILE_NAME)
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        raise _refusal(error) from None


def is_like_python(code: str) -> bool:
    """Whether a text that is not Python was meant to be: one of its lines is a statement of Python that prose and
    OpenQASM do not have."""
    return any(_is_like_python(_PROMPT.sub("", line).strip()) for line in code.split("\n", LINES_READ)[:LINES_READ])


def _is_like_python(line: str) -> bool:
    if _PYTHON_LINE.match(line):
        return True
    if line.endswith(";") or len(line) > LINE_READ or not ("=" in line or "(" in line):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            [statement] = ast.parse(line).body
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        return False
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call)
    return isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign) and statement.value is not None


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
