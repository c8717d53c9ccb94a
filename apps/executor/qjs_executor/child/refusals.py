"""The reasons why a job cannot be executed. These are the only exceptions whose text a user sees unchanged."""

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
    """The source to compile leaves no circuit: it is a script, which has to be run."""

    code = "no_circuit"
