"""What a submission says, before anything is sent: every option is in its place, and none is dropped."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, NoReturn

import httpx
import pytest

from quantum_job_service import AsyncClient, Circuit, Client
from quantum_job_service._runs import Submitted
from quantum_job_service.braket import RemoteDevice as BraketDevice
from quantum_job_service.cirq import RemoteSampler
from quantum_job_service.pennylane import RemoteDevice
from quantum_job_service.qiskit import RemoteBackend
from quantum_job_service.submissions import OF_PARAMS, Options, submission

CIRCUIT = "OPENQASM 3.0; qubit q;"
PLUGINS: list[Callable[..., Any]] = [RemoteBackend, RemoteSampler, BraketDevice, RemoteDevice]


class Nowhere(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Sends nothing."""

    def handle_request(self, request: httpx.Request) -> NoReturn:
        raise AssertionError(f"sent: {request.content!r}")

    async def handle_async_request(self, request: httpx.Request) -> NoReturn:
        self.handle_request(request)


@pytest.fixture
def silent() -> Client:
    """A client that may send nothing."""
    return Client("key", "http://nowhere.test", transport=Nowhere())


@pytest.mark.parametrize(
    ("option", "nearest"),
    [
        ("shot", "shots"),
        ("noise", "noise_model"),
        ("mitigations", "mitigation"),
        ("inline_code", "code"),
        ("label", "labels"),
        ("Seed", "seed"),
    ],
)
def test_an_option_that_the_service_would_drop_raises_and_the_nearest_one_is_named(
    silent: Client, option: str, nearest: str
) -> None:
    message = f"unknown option '{option}'; the nearest is '{nearest}'"
    options: Any = {option: 5}
    for send in (silent.submit, silent.run, silent.sweep):
        with pytest.raises(TypeError, match=message):
            send(CIRCUIT, **options)
    # One without a value is as wrong.
    with pytest.raises(TypeError, match=message):
        silent.submit(CIRCUIT, **{option: None})  # type: ignore[arg-type]

    async def asynchronous() -> None:
        async with AsyncClient("key", "http://nowhere.test", transport=Nowhere()) as client:
            await client.run(CIRCUIT, **options)

    with pytest.raises(TypeError, match=message):
        asyncio.run(asynchronous())


@pytest.mark.parametrize("plugin", PLUGINS)
def test_a_plugin_refuses_an_option_that_the_service_would_drop_when_it_is_made(
    silent: Client, plugin: Callable[..., Any]
) -> None:
    with pytest.raises(TypeError, match="unknown option 'noise'; the nearest is 'noise_model'"):
        plugin(client=silent, noise={"like": "iqm-garnet"})
    for taken in ("shots", "points", "code", "framework"):
        if plugin is RemoteDevice and taken == "shots":
            continue  # PennyLane's devices have it.
        with pytest.raises(TypeError, match=f"option '{taken}' is none of a plugin's"):
            plugin(client=silent, **{taken: 5})


def test_every_option_is_sent_in_its_place() -> None:
    programs = ("circuits", "code", "script_id", "script_slug")
    options = {name: f"a {name}" for name in Options.__annotations__ if name not in ("params", *programs)}
    body = submission(CIRCUIT, **options, params={"of the program": 1})
    assert set(body["params"]) == {*OF_PARAMS, "of the program"}
    assert {**body, **body["params"]}.items() >= options.items()


def test_the_parameters_of_a_circuit_count_before_those_of_its_plugin() -> None:
    sent: list[Any] = []

    def receive(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        return httpx.Response(201, json={"job_id": "a"})

    client = Client("key", "http://nowhere.test", transport=httpx.MockTransport(receive))
    Submitted(client, [Circuit(CIRCUIT, {"shots": 9, "seed": 1})], seed=2, noise_model={"like": "iqm-garnet"})
    assert sent[0]["params"] == {"shots": 9, "seed": 1, "noise_model": {"like": "iqm-garnet"}}
