"""Requests and their repetition, written once for both clients: a plan is a generator that yields what is to be done
next and receives how it went; a transport does it, blocking or not."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx

from .errors import QuantumJobServiceError, Unreachable, refusal

REQUEST_SECONDS = 30.0
"""The service responds to a waiting status request after at most 22 s."""
SILENCE_SECONDS = 45.0
"""An event stream without a sign of life for this long is dead: the service sends one every 15 s."""
PAUSES = (0.2, 0.6, 1.5, 3.0, 5.0, 10.0)
"""Before each repetition of a failed request: a restarting service is back within this time."""
LIMIT_SECONDS_MAX = 180.0
"""The longest wait for a rate limit, all waits of a request together. A limit per day is reported instead."""

T = TypeVar("T")


@dataclass(frozen=True)
class Send:
    """A request; the answer is its response or the error of the connection."""

    method: str
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Listen:
    """A stream that is read line by line until `take` returns True, it ends, or nothing comes for `silence` seconds.
    The answer is its status, or the error of the connection."""

    path: str
    headers: Mapping[str, str]
    take: Callable[[str], bool]
    silence: float


@dataclass(frozen=True)
class Pause:
    """A wait."""

    seconds: float


Step = Send | Listen | Pause
Plan = Generator[Step, Any, T]


def request(method: str, path: str, body: Any = None, idempotency_key: str | None = None) -> Plan[Any]:
    """The parsed response. Repeats reads, and writes under one Idempotency-Key, after a lost connection, a 5xx and a
    limit whose end is near. Raises Refused or Unreachable."""
    content = None if body is None else json.dumps(body, allow_nan=False).encode()
    headers = {"accept": "application/json"}
    if content is not None:
        headers["content-type"] = "application/json"
    if method != "GET":
        headers["idempotency-key"] = idempotency_key or str(uuid.uuid4())
    failures, waited = 0, 0.0
    while True:
        answer: httpx.Response | httpx.TransportError = yield Send(method, path, content, headers)
        if isinstance(answer, httpx.TransportError):
            asked = None
            error: QuantumJobServiceError = Unreachable("unreachable", f"the service does not respond ({_why(answer)})")
        elif answer.is_success:
            return _parsed(answer)
        else:
            asked = _retry_after(answer)
            error = refusal(answer.status_code, answer.text, answer.headers.get("x-request-id"), asked)
            if answer.status_code == 429 and asked is not None and waited + asked <= LIMIT_SECONDS_MAX:
                waited += asked
                yield Pause(asked)
                continue
            if answer.status_code < 500:
                raise error
        if failures == len(PAUSES):
            raise error
        yield Pause(max(PAUSES[failures], min(asked or 0.0, LIMIT_SECONDS_MAX)))
        failures += 1


def _parsed(response: httpx.Response) -> Any:
    # Integers of any size stay exact.
    try:
        return json.loads(response.content) if response.content else None
    except ValueError:
        raise Unreachable("unreachable", "a response is not JSON: check the url", response.status_code) from None


def _retry_after(response: httpx.Response) -> float | None:
    text = response.headers.get("retry-after", "")
    return max(1.0, float(text)) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _why(error: httpx.TransportError) -> str:
    return str(error) or type(error).__name__


def _options(url: str, key: str, transport: Any) -> dict[str, Any]:
    # This API never redirects, and following a redirect would send the key to another address.
    return {
        "base_url": url,
        "headers": {"authorization": f"Bearer {key}", "user-agent": "quantum-job-service-python"},
        # Threads that wait for a connection of the pool have no limit of their own.
        "timeout": httpx.Timeout(REQUEST_SECONDS, pool=None),
        "follow_redirects": False,
        "transport": transport,
    }


class SyncTransport:
    """Does the steps of a plan one after the other."""

    def __init__(self, url: str, key: str, transport: httpx.BaseTransport | None = None) -> None:
        self._http = httpx.Client(**_options(url, key, transport))

    def run(self, plan: Plan[T]) -> T:
        """The value of the plan."""
        answer: Any = None
        while True:
            try:
                step = plan.send(answer)
            except StopIteration as end:
                value: T = end.value
                return value
            answer = self._do(step)

    def _do(self, step: Step) -> Any:
        if isinstance(step, Pause):
            return time.sleep(step.seconds)
        try:
            if isinstance(step, Send):
                return self._http.request(step.method, step.path, content=step.body, headers=step.headers)
            with self._http.stream("GET", step.path, headers=step.headers, timeout=step.silence) as response:
                if response.is_success:
                    for line in response.iter_lines():
                        if step.take(line):
                            break
                return response.status_code
        except httpx.TransportError as error:
            return error

    def close(self) -> None:
        self._http.close()


class AsyncTransport:
    """Does the steps of a plan without blocking the event loop."""

    def __init__(self, url: str, key: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._http = httpx.AsyncClient(**_options(url, key, transport))

    async def run(self, plan: Plan[T]) -> T:
        """The value of the plan."""
        answer: Any = None
        while True:
            try:
                step = plan.send(answer)
            except StopIteration as end:
                value: T = end.value
                return value
            answer = await self._do(step)

    async def _do(self, step: Step) -> Any:
        if isinstance(step, Pause):
            return await asyncio.sleep(step.seconds)
        try:
            if isinstance(step, Send):
                return await self._http.request(step.method, step.path, content=step.body, headers=step.headers)
            async with self._http.stream("GET", step.path, headers=step.headers, timeout=step.silence) as response:
                if response.is_success:
                    async for line in response.aiter_lines():
                        if step.take(line):
                            break
                return response.status_code
        except httpx.TransportError as error:
            return error

    async def close(self) -> None:
        await self._http.aclose()
