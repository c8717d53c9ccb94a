"""What every route of the shell shares: reading a body within its limits, noticing that the caller has gone, and the
shape of refusals. It runs no user code."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope

from ..job import SandboxBusy, SandboxDraining, SandboxFault, SandboxInsecure
from ..logs import facts, log
from .request_fields import InvalidRequest, request_object
from .script_request import LARGE_KEYS

BODY_BYTES_MAX = 4 * 1024 * 1024
"""Limit of a body without values of tasks."""
BUSY_SECONDS = 1
"""When a caller that found every slot taken may retry."""


def error_response(status: int, code: str, message: str) -> JSONResponse:
    """The one shape of every error."""
    return JSONResponse({"error": {"code": code, "message": message}}, status_code=status)


class TooLarge(Exception):
    """The body is larger than the limit, in bytes, that this names."""


async def while_connected(
    work: Coroutine[Any, Any, Response | None], receive: Receive, named: dict[str, str]
) -> Response | None:
    """Returns the response of the work, which is cancelled when the caller hangs up."""
    running = asyncio.create_task(work)
    gone = asyncio.create_task(_disconnected(receive))
    try:
        await asyncio.wait([running, gone], return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            return running.result()
        log.info("the caller hung up", extra=facts(**named))
        return None
    finally:
        for task in (running, gone):
            task.cancel()
        await asyncio.gather(running, gone, return_exceptions=True)


def not_taken(error: SandboxBusy | SandboxFault, named: dict[str, str]) -> Response:
    """Nothing was executed: every slot is taken, or no child was available."""
    if isinstance(error, SandboxDraining):
        return error_response(503, "draining", "this executor is about to stop and takes no more runs")
    if isinstance(error, SandboxBusy):
        answer = error_response(503, "busy", "every slot is taken; try again shortly")
        answer.headers["retry-after"] = str(BUSY_SECONDS)
        return answer
    if isinstance(error, SandboxInsecure):
        return error_response(503, "worker_not_configured", str(error))
    log.error("no child took the job", extra=facts(**named, reason=str(error)))
    return error_response(503, "execution_service_lost", str(error))


async def read_request(scope: Scope, receive: Receive, bytes_max: int) -> dict[str, Any]:
    """The request's body, of at most `bytes_max` bytes; above BODY_BYTES_MAX only with values of tasks. Raises
    InvalidRequest and TooLarge."""
    body = await _body(scope, receive, bytes_max)
    large = len(body) > BODY_BYTES_MAX
    # The bytes alone decide first, so that no large body is parsed that will be refused.
    if large and not any(f'"{key}"'.encode() in body for key in LARGE_KEYS):
        raise TooLarge(BODY_BYTES_MAX)
    request = await request_object(body)
    if large and not any(key in request for key in LARGE_KEYS):
        raise TooLarge(BODY_BYTES_MAX)
    return request


async def _body(scope: Scope, receive: Receive, bytes_max: int) -> bytes:
    """Reads the body. Raises TooLarge before reading what a Content-Length declares too large."""
    declared = dict(scope["headers"]).get(b"content-length", b"0")
    if declared.isdigit() and int(declared) > bytes_max:
        raise TooLarge(bytes_max)
    parts: list[bytes] = []
    size = 0
    while True:
        message: Message = await receive()
        if message["type"] == "http.disconnect":
            raise InvalidRequest("body: the connection closed before the end of the body")
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > bytes_max:
            raise TooLarge(bytes_max)
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
