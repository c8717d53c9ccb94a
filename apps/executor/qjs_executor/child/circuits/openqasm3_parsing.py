"""Parses OpenQASM 3, with the line of every error, and refuses what the parser would drop."""

from __future__ import annotations

import re

import openqasm3
from openqasm3 import ast
from openqasm3.parser import QASM3ParsingError

from ..refusals import JobError, Unsupported

_ERROR_PLACE = re.compile(r"^L(\d+):C\d+:\s*")
_COMMENT = r"//[^\n]*|/\*.*?\*/"
_OPERATOR_OF_MEASUREMENT = re.compile(
    rf'{_COMMENT}|"[^"\n]*"|(?P<operator>(?:\*\*|<<|>>|[-+*/%&|^~])=)(?:\s|{_COMMENT})*measure\b', re.DOTALL
)
"""Comments and texts come first, so that an operator inside them is none."""


def parsed(text: str) -> ast.Program:
    """The syntax tree of a program. Raises JobError with the line."""
    _refuse_operators_of_measurements(text)
    try:
        return openqasm3.parse(text.removeprefix("\ufeff"))
    except QASM3ParsingError as error:
        raise _syntax_error(error) from None
    except RecursionError:
        raise JobError("OpenQASM 3: the program is nested too deeply") from None
    except (AttributeError, TypeError, ValueError, KeyError, IndexError) as error:
        raise JobError(f"OpenQASM 3: the program cannot be read ({type(error).__name__})") from None


def _refuse_operators_of_measurements(text: str) -> None:
    """The parser reads `c ^= measure q;` as `c = measure q;`."""
    for found in _OPERATOR_OF_MEASUREMENT.finditer(text):
        operator = found["operator"]
        if operator is not None:
            line = text.count("\n", 0, found.start()) + 1
            raise Unsupported(f"OpenQASM 3: '{operator}' of a measurement is not supported", line)


def _syntax_error(error: QASM3ParsingError) -> JobError:
    message = str(error)
    found = _ERROR_PLACE.match(message)
    if found:
        return JobError(f"OpenQASM 3: {message[found.end() :]}", int(found[1]))
    # The parser hides the recogniser's error, which knows the place, inside a wrapper.
    wrapped = getattr(error.__cause__, "args", ())
    token = getattr(wrapped[0], "offendingToken", None) if wrapped else None
    line = getattr(token, "line", None)
    shown = f" at '{token.text[:40]}'" if token is not None and token.text else ""
    return JobError(f"OpenQASM 3: {message or 'syntax error'}{shown}", line)
