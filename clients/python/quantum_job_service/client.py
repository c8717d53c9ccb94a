"""The clients: ``Client`` blocks, ``AsyncClient`` has the same methods as coroutines."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from . import notebook
from ._http import AsyncTransport, Plan, SyncTransport, request
from ._waiting import final_state, result_of
from .results import Result, SweepResult
from .submissions import submission

if TYPE_CHECKING:
    import httpx
    from typing_extensions import Unpack

    from .submissions import Options

DEFAULT_URL = "http://127.0.0.1:3000"
AUTO = "auto"
"""In the place of a backend: the service chooses, for a sweep among those that run sweeps."""
OnEvent = Callable[[Mapping[str, Any]], None]


def _access(key: str | None, url: str | None) -> tuple[str, str]:
    """Address and key, from the arguments or as qjob reads them from the environment."""
    key = key or os.environ.get("QJOB_KEY")
    if not key:
        raise ValueError("no API key: pass key, or set QJOB_KEY")
    return (url or os.environ.get("QJOB_URL") or DEFAULT_URL).rstrip("/"), key


def _submit(circuit: str | None, idempotency_key: str | None, options: Mapping[str, Any]) -> Plan[str]:
    body = submission(circuit, **options)
    receipt = yield from request("POST", "/api/jobs/submit", body, idempotency_key)
    job_id: str = receipt["job_id"]
    return job_id


def _backends() -> Plan[list[dict[str, Any]]]:
    answer = yield from request("GET", "/api/backends")
    backends: list[dict[str, Any]] = answer["backends"]
    return backends


def _backend(slug: str) -> Plan[dict[str, Any]]:
    entry: dict[str, Any] = yield from request("GET", f"/api/backends/{quote(slug, safe='')}")
    return entry


def _takes_sweeps(backend: str, known: dict[str, bool]) -> Plan[bool]:
    if backend not in known:
        known[backend] = (yield from _backend(backend))["supportsSweeps"]
    return known[backend]


class Client:
    """The service at ``url`` (else QJOB_URL, else port 3000 of this machine) for the holder of ``key`` (else QJOB_KEY).
    Threads can share it."""

    def __init__(
        self, key: str | None = None, url: str | None = None, *, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.url, key = _access(key, url)
        self._transport = SyncTransport(self.url, key, transport)
        self._sweeps = {AUTO: True}

    def submit(
        self, circuit: str | None = None, *, idempotency_key: str | None = None, **options: Unpack[Options]
    ) -> Job:
        """Records a job and returns at once. ``circuit`` is OpenQASM 2 or 3; ``code`` a program, with its
        ``framework``; ``circuits`` or ``points`` make a sweep. A lost request is repeated under one key, so that there
        is one job."""
        return Job(self, self._transport.run(_submit(circuit, idempotency_key, options)))

    def run(self, circuit: str | None = None, *, timeout: float | None = None, **options: Unpack[Options]) -> Result:
        """Submits one run and waits for its result."""
        result = self.submit(circuit, **options).result(timeout)
        if isinstance(result, SweepResult):
            raise ValueError("a sweep has many results: use sweep()")
        return result

    def sweep(
        self, circuit: str | None = None, *, timeout: float | None = None, **options: Unpack[Options]
    ) -> SweepResult:
        """Submits ``points`` of one program, or ``circuits``, as one job and waits for all of them."""
        result = self.submit(circuit, **options).result(timeout)
        if isinstance(result, Result):
            raise ValueError("this is a single run: pass points or circuits")
        return result

    def job(self, job_id: str) -> Job:
        """A job by its id."""
        return Job(self, job_id)

    def backends(self) -> list[dict[str, Any]]:
        """The catalogue."""
        return self._transport.run(_backends())

    def backend(self, slug: str) -> dict[str, Any]:
        """An entry of the catalogue."""
        return self._transport.run(_backend(slug))

    def request(self, method: str, path: str, body: Any = None, idempotency_key: str | None = None) -> Any:
        """Any other request of the API, with the same repetitions and exceptions; the response as parsed JSON."""
        return self._transport.run(request(method, path, body, idempotency_key))

    def takes_sweeps(self, backend: str) -> bool:
        """Whether a backend runs many circuits as one job; those of providers do not. Asked once for each."""
        return self._transport.run(_takes_sweeps(backend, self._sweeps))

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Job:
    """A job of the service."""

    def __init__(self, client: Client, job_id: str) -> None:
        self._client = client
        self.id = job_id

    def record(self) -> dict[str, Any]:
        """Everything that is recorded about it."""
        return self._client.request("GET", f"/api/jobs/{self.id}")  # type: ignore[no-any-return]

    def status(self) -> str:
        """``pending``, ``running``, ``cancelling``, ``completed``, ``failed``, ``cancelled`` or ``dispatch_failed``."""
        return str(self._client.request("GET", f"/api/jobs/{self.id}/status")["status"])

    def wait(self, timeout: float | None = None, on_event: OnEvent | None = None) -> str:
        """The final status. ``on_event`` receives each event of the job, what it prints among them. Raises TimeoutError
        after so many seconds; the job goes on."""
        return str(self._client._transport.run(final_state(self.id, timeout, on_event))["status"])

    def result(self, timeout: float | None = None) -> Result | SweepResult:
        """The result, once it is there. Raises JobFailed, or TimeoutError after so many seconds."""
        return self._client._transport.run(result_of(self.id, timeout))

    def cancel(self) -> None:
        """Asks for the end of the job."""
        self._client.request("POST", f"/api/jobs/{self.id}/cancel")

    def __repr__(self) -> str:
        return f"<Job {self.id}>"

    def _repr_html_(self) -> str:
        record = self.record()
        return notebook.job_html({name: record.get(name) for name in ("id", "name", "status", "backend", "error")})


class AsyncClient:
    """As ``Client``, for programs with an event loop."""

    def __init__(
        self, key: str | None = None, url: str | None = None, *, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self.url, key = _access(key, url)
        self._transport = AsyncTransport(self.url, key, transport)
        self._sweeps = {AUTO: True}

    async def submit(
        self, circuit: str | None = None, *, idempotency_key: str | None = None, **options: Unpack[Options]
    ) -> AsyncJob:
        """Records a job and returns at once."""
        return AsyncJob(self, await self._transport.run(_submit(circuit, idempotency_key, options)))

    async def run(
        self, circuit: str | None = None, *, timeout: float | None = None, **options: Unpack[Options]
    ) -> Result:
        """Submits one run and waits for its result."""
        result = await (await self.submit(circuit, **options)).result(timeout)
        if isinstance(result, SweepResult):
            raise ValueError("a sweep has many results: use sweep()")
        return result

    async def sweep(
        self, circuit: str | None = None, *, timeout: float | None = None, **options: Unpack[Options]
    ) -> SweepResult:
        """Submits ``points`` of one program, or ``circuits``, as one job and waits for all of them."""
        result = await (await self.submit(circuit, **options)).result(timeout)
        if isinstance(result, Result):
            raise ValueError("this is a single run: pass points or circuits")
        return result

    def job(self, job_id: str) -> AsyncJob:
        """A job by its id."""
        return AsyncJob(self, job_id)

    async def backends(self) -> list[dict[str, Any]]:
        """The catalogue."""
        return await self._transport.run(_backends())

    async def backend(self, slug: str) -> dict[str, Any]:
        """An entry of the catalogue."""
        return await self._transport.run(_backend(slug))

    async def request(self, method: str, path: str, body: Any = None, idempotency_key: str | None = None) -> Any:
        """Any other request of the API, with the same repetitions and exceptions; the response as parsed JSON."""
        return await self._transport.run(request(method, path, body, idempotency_key))

    async def takes_sweeps(self, backend: str) -> bool:
        """Whether a backend runs many circuits as one job; those of providers do not. Asked once for each."""
        return await self._transport.run(_takes_sweeps(backend, self._sweeps))

    async def close(self) -> None:
        """Closes the connections."""
        await self._transport.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AsyncJob:
    """A job of the service."""

    def __init__(self, client: AsyncClient, job_id: str) -> None:
        self._client = client
        self.id = job_id

    async def record(self) -> dict[str, Any]:
        """Everything that is recorded about it."""
        return await self._client.request("GET", f"/api/jobs/{self.id}")  # type: ignore[no-any-return]

    async def status(self) -> str:
        """``pending``, ``running``, ``cancelling``, ``completed``, ``failed``, ``cancelled`` or ``dispatch_failed``."""
        return str((await self._client.request("GET", f"/api/jobs/{self.id}/status"))["status"])

    async def wait(self, timeout: float | None = None, on_event: OnEvent | None = None) -> str:
        """The final status, as ``Job.wait``."""
        return str((await self._client._transport.run(final_state(self.id, timeout, on_event)))["status"])

    async def result(self, timeout: float | None = None) -> Result | SweepResult:
        """The result, once it is there. Raises JobFailed, or TimeoutError after so many seconds."""
        return await self._client._transport.run(result_of(self.id, timeout))

    async def cancel(self) -> None:
        """Asks for the end of the job."""
        await self._client.request("POST", f"/api/jobs/{self.id}/cancel")

    def __repr__(self) -> str:
        return f"<AsyncJob {self.id}>"
