"""The clients against the running service."""

from __future__ import annotations

import asyncio
import inspect
import uuid
from typing import Any, get_type_hints

import pytest

from quantum_job_service import AsyncClient, AsyncJob, Client, Job, JobFailed, Refused, Result
from quantum_job_service._waiting import FINAL
from quantum_job_service.submissions import OF_PARAMS, OTHER_NAMES, PROGRAMS, Options

ASYMMETRIC = """OPENQASM 3.0;
include "stdgates.inc";
qubit[3] q;
bit[3] c;
x q[0];
c = measure q;
"""


def test_a_circuit_is_run_and_its_counts_are_integers_with_qubit_0_leftmost(client: Client) -> None:
    result = client.run(ASYMMETRIC, shots=100, timeout=300)
    assert result.counts == {"100": 100}
    assert all(type(count) is int for count in result.counts.values())
    assert (result.shots, result.registers[0].name, result.registers[0].qubits) == (100, "c", (0, 1, 2))
    assert "■" in (result.circuit_text or "") or "X" in (result.circuit_text or "")
    assert "100.0%" in result._repr_html_()


def test_the_async_client_runs_circuits_side_by_side() -> None:
    async def run() -> list[Result]:
        async with AsyncClient() as client:
            assert any(one["slug"] == "local" for one in await client.backends())
            return await asyncio.gather(*(client.run(ASYMMETRIC, shots=shots, timeout=300) for shots in (1, 2, 3)))

    assert [result.counts for result in asyncio.run(run())] == [{"100": 1}, {"100": 2}, {"100": 3}]


@pytest.mark.parametrize(("blocking", "coroutines"), [(Client, AsyncClient), (Job, AsyncJob)])
def test_the_async_client_has_the_same_methods(blocking: type, coroutines: type) -> None:
    def methods(of: type) -> dict[str, list[tuple[str, Any]]]:
        return {
            name: [(one.name, one.default) for one in inspect.signature(method).parameters.values()]
            for name, method in vars(of).items()
            if inspect.isfunction(method) and not name.startswith("_")
        }

    assert methods(coroutines) == methods(blocking)
    # Naming a job asks nobody.
    assert {name for name in methods(coroutines) if not inspect.iscoroutinefunction(getattr(coroutines, name))} <= {
        "job"
    }


def test_the_async_client_reads_the_catalogue() -> None:
    async def read() -> tuple[dict[str, Any], list[bool]]:
        async with AsyncClient() as client:
            slugs = ("local", "auto", "ionq-direct-simulator")
            return await client.backend("local"), [await client.takes_sweeps(slug) for slug in slugs]

    entry, sweeps = asyncio.run(read())
    assert (entry["slug"], sweeps) == ("local", [True, True, False])


def test_the_same_submission_under_one_key_is_one_job(client: Client) -> None:
    key = str(uuid.uuid4())
    first, second = (client.submit(ASYMMETRIC, shots=1, idempotency_key=key) for _ in range(2))
    assert first.id == second.id
    with pytest.raises(Refused) as caught:
        client.submit(ASYMMETRIC, shots=2, idempotency_key=key)
    assert (caught.value.code, caught.value.status) == ("idempotency_conflict", 409)


def test_what_a_program_prints_and_returns_arrives_exactly(client: Client) -> None:
    code = f"import qiskit\ndef main():\n    print('half way')\n    return {2**100 + 1}\n"
    job = client.submit(code=code, framework="qiskit", shots=1)
    seen: list[Any] = []
    assert job.wait(timeout=300, on_event=seen.append) == "completed"
    assert any("half way" in event.get("text", "") for event in seen)
    result = job.result()
    assert isinstance(result, Result)
    assert result.value == 2**100 + 1
    assert result.counts is None


def test_expectation_values_are_exact_or_have_an_error(client: Client) -> None:
    exact, sampled = (
        client.run(ASYMMETRIC, shots=400, observables=["ZII + 0.5*IZI", "XII"], observables_method=method, timeout=300)
        for method in ("exact", "sampled")
    )
    assert [(one.value, one.standard_error) for one in exact.expectation_values] == [(-0.5, 0), (0, 0)]
    assert sampled.expectation_values[0].value == -0.5
    assert (sampled.expectation_values[1].standard_error or 0) > 0.01


def test_a_program_that_fails_raises_its_error(client: Client) -> None:
    job = client.submit(code="import qiskit\ndef main():\n    raise ValueError('on purpose')\n", framework="qiskit")
    with pytest.raises(JobFailed, match="on purpose") as caught:
        job.result(timeout=300)
    assert (caught.value.code, caught.value.job_id) == ("execution_error", job.id)
    assert "on purpose" in job._repr_html_()


def test_a_refused_submission_names_the_field(client: Client) -> None:
    with pytest.raises(Refused, match=r"params\.shots") as caught:
        client.submit(ASYMMETRIC, shots=0)
    assert caught.value.code == "validation_error"
    assert caught.value.request_id


def test_a_job_can_be_cancelled(client: Client) -> None:
    job = client.submit(code="import qiskit, time\ndef main():\n    time.sleep(60)\n", framework="qiskit", shots=1)
    job.cancel()
    with pytest.raises(JobFailed) as caught:
        job.result(timeout=300)
    assert caught.value.job_status == "cancelled"


def test_the_types_are_those_of_the_service(client: Client) -> None:
    schemas = client.request("GET", "/openapi.json")["components"]["schemas"]
    known = schemas["JobSubmission"]["properties"]
    params = schemas["JobSubmissionParams"]["properties"]
    options = {OTHER_NAMES.get(name, name) for name in get_type_hints(Options)}
    # `circuit` is the first argument. Nothing that the service takes is missing, and nothing else is there.
    assert options | {"circuit"} == {*known, *params}
    assert set(OF_PARAMS) == set(params)
    assert set(PROGRAMS) - set(known) == set()
    statuses = set(schemas["JobState"]["properties"]["status"]["enum"])
    assert set(FINAL) == statuses - {"pending", "running", "cancelling"}
    types = {"integer": "int", "string": "str", "number": "float", "boolean": "bool", "array": "Sequence"}
    for name, hint in Options.__annotations__.items():
        schema = known.get(OTHER_NAMES.get(name, name)) or params.get(name)
        if schema and schema.get("type") in types:
            assert types[schema["type"]] in str(hint), name
