"""What the clients do when requests fail, against a service that fails as written here; the sync and the async client
share the plans, so each promise is tested on one of them, and that both keep one on both."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from quantum_job_service import AsyncClient, Client, JobFailed, RateLimited, Refused, Unreachable, _http, _waiting
from quantum_job_service.results import Result

JOB = "01900000-0000-7000-8000-000000000000"
Answer = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


class Service(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Answers as it is told, in turn."""

    def __init__(self, *answers: Answer) -> None:
        self.requests: list[httpx.Request] = []
        self._answers = list(answers)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer(request) if callable(answer) else answer

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self.handle_request(request)


class Breaking(httpx.SyncByteStream):
    """A body whose connection is lost after its text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __iter__(self) -> Iterator[bytes]:
        yield self._text.encode()
        raise httpx.ReadError("connection reset")


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that the clients make; none of them takes time."""
    made: list[float] = []

    async def pass_on(seconds: float) -> None:
        made.append(seconds)

    monkeypatch.setattr("quantum_job_service._http.time.sleep", made.append)
    monkeypatch.setattr("quantum_job_service._http.asyncio.sleep", pass_on)
    return made


def client(*answers: Answer) -> tuple[Client, Service]:
    service = Service(*answers)
    return Client("a-key", "http://service.example", transport=service), service


def created() -> httpx.Response:
    return httpx.Response(201, json={"job_id": JOB})


def refused(status: int, code: str, **headers: str) -> httpx.Response:
    error = {"error": {"code": code, "message": "for a reason", "status": status}}
    return httpx.Response(status, json=error, headers={"x-request-id": "r1", **headers})


def events(*each: dict[str, Any]) -> str:
    return "".join(f"id: {one['seq']}\nevent: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in each)


def status(seq: int, name: str) -> dict[str, Any]:
    return {"seq": seq, "type": "status", "status": name}


def state(name: str, result: Any = None) -> httpx.Response:
    return httpx.Response(200, json={"id": JOB, "status": name, "result": result})


@pytest.mark.parametrize(
    "failure",
    [httpx.ConnectError("refused"), httpx.ReadError("reset"), httpx.Response(502), refused(503, "request_under_way")],
)
def test_a_submission_is_repeated_under_one_key_until_it_is_answered(failure: Answer) -> None:
    sender, service = client(failure, failure, created())
    assert sender.submit("OPENQASM 3.0;").id == JOB
    assert len(service.requests) == 3
    assert len({request.headers["idempotency-key"] for request in service.requests}) == 1
    assert len({request.content for request in service.requests}) == 1
    assert service.requests[0].headers["authorization"] == "Bearer a-key"


def test_two_submissions_have_different_keys_and_a_given_key_is_used() -> None:
    sender, service = client(created(), created(), created())
    sender.submit("OPENQASM 3.0;")
    sender.submit("OPENQASM 3.0;")
    sender.submit("OPENQASM 3.0;", idempotency_key="mine")
    first, second, third = (request.headers["idempotency-key"] for request in service.requests)
    assert first != second
    assert third == "mine"


def test_both_clients_wait_for_a_rate_limit_as_long_as_the_service_says(pauses: list[float]) -> None:
    sender, _ = client(refused(429, "rate_limited", **{"retry-after": "7"}), created())
    assert sender.submit("OPENQASM 3.0;").id == JOB

    async def submit() -> str:
        service = Service(refused(429, "rate_limited", **{"retry-after": "9"}), created())
        async with AsyncClient("a-key", "http://service.example", transport=service) as other:
            return (await other.submit("OPENQASM 3.0;")).id

    assert asyncio.run(submit()) == JOB
    assert pauses == [7.0, 9.0]


def test_a_limit_that_ends_far_away_is_reported() -> None:
    sender, _ = client(refused(429, "rate_limited", **{"retry-after": "80000"}))
    with pytest.raises(RateLimited) as caught:
        sender.submit("OPENQASM 3.0;")
    assert caught.value.retry_after == 80000


def test_a_refusal_has_code_message_page_and_request_id_and_is_not_repeated() -> None:
    sender, service = client(refused(400, "validation_error"))
    with pytest.raises(Refused) as caught:
        sender.submit("OPENQASM 3.0;")
    error = caught.value
    assert (error.code, error.message, error.status, error.request_id) == (
        *("validation_error", "for a reason", 400, "r1"),
    )
    assert "docs/errors.md" in str(error)
    assert len(service.requests) == 1


def test_a_service_that_stays_away_is_reported_after_some_repetitions() -> None:
    sender, service = client(*[httpx.ConnectError("refused")] * 20)
    with pytest.raises(Unreachable):
        sender.submit("OPENQASM 3.0;")
    assert len(service.requests) == 1 + len(_http.PAUSES)


@pytest.mark.parametrize(
    "answer", [httpx.Response(404, text="<html>"), httpx.Response(302), httpx.Response(200, text="x")]
)
def test_a_response_that_is_not_of_this_service_is_no_result(answer: httpx.Response) -> None:
    sender, _ = client(answer)
    with pytest.raises(Unreachable, match="check the url"):
        sender.backends()


def test_a_stream_that_breaks_off_is_continued_after_its_last_event() -> None:
    output = {"seq": 2, "type": "output", "text": "half\n"}
    service = Service(
        httpx.Response(200, stream=Breaking(events(status(1, "running"), output))),
        httpx.Response(200, text=events(output, status(3, "completed"))),
        state("completed"),
    )
    seen: list[int] = []
    job = Client("a-key", "http://service.example", transport=service).job(JOB)
    assert job.wait(on_event=lambda event: seen.append(event["seq"])) == "completed"
    assert seen == [1, 2, 3]
    assert [request.headers.get("last-event-id") for request in service.requests] == ["0", "2", None]


@pytest.mark.parametrize(
    "streams",
    [
        [refused(404, "not_found")],
        [refused(429, "rate_limited")],
        [httpx.ReadTimeout("silence")] * _waiting.DEAF_STREAMS_MAX,
        [httpx.Response(200, text="")] * _waiting.DEAF_STREAMS_MAX,
    ],
)
def test_the_status_is_asked_for_where_streams_do_not_get_through(streams: list[Answer]) -> None:
    sender, service = client(*streams, state("running"), state("completed", {"counts": {}}))
    assert sender.job(JOB).wait() == "completed"
    assert service.requests[-1].url.params["wait"] == "20"


def test_a_job_that_fails_raises_its_code_and_message() -> None:
    record = {"id": JOB, "status": "failed", "error": {"code": "execution_error", "message": "line 3"}}
    sender, _ = client(
        httpx.Response(200, text=events(status(1, "failed"))), state("failed"), httpx.Response(200, json=record)
    )
    with pytest.raises(JobFailed) as caught:
        sender.job(JOB).result()
    assert (caught.value.job_id, caught.value.job_status, caught.value.code) == (JOB, "failed", "execution_error")


def test_waiting_ends_with_the_callers_time_and_the_job_goes_on() -> None:
    sender, _ = client(*[httpx.Response(200, text=events(status(1, "running")))] * 3)
    with pytest.raises(TimeoutError, match="it goes on"):
        sender.job(JOB).wait(timeout=0)


def test_integers_of_any_size_stay_exact() -> None:
    value = 2**200 + 1
    body = f'{{"id": "{JOB}", "status": "completed", "result": {{"result": {value}, "shots": null}}}}'
    sender, _ = client(httpx.Response(200, text=events(status(1, "completed"))), httpx.Response(200, text=body))
    result = sender.job(JOB).result()
    assert isinstance(result, Result)
    assert result.value == value
    assert isinstance(result.value, int)


def test_address_and_key_come_from_the_environment_as_for_qjob(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QJOB_KEY", "of the environment")
    monkeypatch.setenv("QJOB_URL", "http://jobs.example/")
    service = Service(httpx.Response(200, json={"backends": []}))
    Client(transport=service).backends()
    [request] = service.requests
    assert request.headers["authorization"] == "Bearer of the environment"
    assert str(request.url) == "http://jobs.example/api/backends"
    monkeypatch.delenv("QJOB_KEY")
    with pytest.raises(ValueError, match="QJOB_KEY"):
        Client()
