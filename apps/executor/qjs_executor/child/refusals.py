"""Why a job cannot be run as it is. The only exceptions whose text a user sees as it stands."""

from __future__ import annotations


class JobError(Exception):
    """The job fails by its own fault. `line` counts from 1 in the user's text."""

    code = "execution_error"

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class Unsupported(JobError):
    """Something that cannot be run faithfully; the message names it and where it stands."""

    code = "unsupported_operation"


class NoCircuit(JobError):
    """What was to be compiled leaves no circuit: it is a script, which is for running."""

    code = "no_circuit"
