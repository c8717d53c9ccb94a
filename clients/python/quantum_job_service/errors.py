"""What can go wrong, as exceptions with the service's own code."""

from __future__ import annotations

import json
from typing import Any

DOCS = "docs/errors.md"
"""The page of the service's documentation that explains each code."""


class QuantumJobServiceError(Exception):
    """Has the service's ``code``, its ``message``, the HTTP ``status`` where there is one, the ``request_id`` that
    finds the log entry, and ``docs``, the page that explains the code."""

    def __init__(self, code: str, message: str, status: int | None = None, request_id: str | None = None) -> None:
        self.code = code
        self.message = message
        self.status = status
        self.request_id = request_id
        self.docs = DOCS
        super().__init__(f"{message} (code {code}: {DOCS})")


class Refused(QuantumJobServiceError):
    """The service refused the request, or a plugin refused what cannot be sent faithfully (code
    ``unsupported_operation``)."""


class RateLimited(Refused):
    """Above a limit whose end is too far away to wait for; ``retry_after`` is in seconds."""

    retry_after: float | None = None


class Unreachable(QuantumJobServiceError):
    """No usable response, repetitions included. Repeat a submission with the same ``idempotency_key``."""


class JobFailed(QuantumJobServiceError):
    """The job ``job_id`` ended in ``job_status``, without a result; ``point`` is the index of the point of a sweep."""

    def __init__(self, job_id: str, job_status: str, code: str, message: str, point: int | None = None) -> None:
        self.job_id = job_id
        self.job_status = job_status
        self.point = point
        super().__init__(code, f"job {job_id} {job_status}: {message}")


def unsupported(message: str) -> Refused:
    """The refusal of a plugin, before anything is sent."""
    return Refused("unsupported_operation", message)


def refusal(status: int, text: str, request_id: str | None, retry_after: float | None) -> QuantumJobServiceError:
    """The exception for a response that is no success."""
    code, message = _code_and_message(text)
    if code is None:
        return Unreachable(
            "unreachable", f"HTTP {status}, but not like this service: check the url", status, request_id
        )
    if status >= 500:
        return Unreachable(code, message, status, request_id)
    if status == 429:
        limited = RateLimited(code, message, status, request_id)
        limited.retry_after = retry_after
        return limited
    return Refused(code, message, status, request_id)


def _code_and_message(text: str) -> tuple[str | None, str]:
    try:
        body: Any = json.loads(text)
    except ValueError:
        return None, ""
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict) and isinstance(error.get("code"), str):
        return error["code"], str(error.get("message", ""))
    if isinstance(error, str):
        return str(body.get("code", "refused")), error
    return None, ""
