"""The HTTP side: authentication, what is refused before a run, and the stream of a run."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest

from ..support.executor import BELL, Executor, eventually, python, qasm


@pytest.mark.parametrize(
    "header", [None, "Bearer wrong", "Basic dXNlcjpwYXNz", "Bearer", "Bearer a-token-for-tests-onlyx"]
)
@pytest.mark.parametrize("route", ["/health", "/run", "/elsewhere"])
def test_every_route_requires_the_token(executor: Executor, header: str | None, route: str) -> None:
    headers = {"Authorization": header} if header else {"Authorization": ""}
    answer = executor.http.request("POST" if route == "/run" else "GET", route, headers=headers)
    assert answer.status_code == 401
    assert answer.json() == {"error": {"code": "unauthorized", "message": "Unauthorized"}}


def test_health_reports_engines_frameworks_and_isolation(executor: Executor) -> None:
    health = executor.health()
    assert health["status"] == "ok"
    assert health["pid"] == executor.process.pid
    assert health["slots"]["total"] == 3
    assert health["sandbox"]["level"] in ("L3", "L3-rootless", "L2")
    assert health["sandbox"]["note"]
    assert any(probe["ok"] for probe in health["sandbox"]["selftest"])
    assert health["engines"][0]["name"] == "statevector"
    assert health["engines"][0]["version"].startswith("qiskit-aer ")
    assert set(health["frameworks"]) >= {"qiskit", "openqasm", "cirq", "pennylane"}


def test_unknown_routes_and_methods_have_the_one_error_shape(executor: Executor) -> None:
    for method, route, status in [("GET", "/nothing", 404), ("GET", "/run", 405), ("POST", "/health", 405)]:
        answer = executor.http.request(method, route)
        assert answer.status_code == status
        assert set(answer.json()["error"]) == {"code", "message"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"run_id": ""}, "run_id"),
        ({"run_id": "x" * 101}, "run_id"),
        ({"run_id": 7}, "run_id"),
        ({"request_id": ""}, "request_id"),
        ({"request_id": "x" * 201}, "request_id"),
        ({"source": None}, "source"),
        ({"source": {"kind": "other"}}, "source.kind"),
        ({"source": {"kind": "code", "framework": "quil", "code": "x"}}, "source.framework"),
        ({"source": {"kind": "code", "framework": "qiskit", "code": ""}}, "source.code"),
        ({"source": {"kind": "code", "framework": "qiskit"}}, "source.code"),
        ({"source": {"kind": "circuit", "format": "quil", "payload": "x"}}, "source.format"),
        ({"source": python("x = 'a\0b'")}, "source.code: contains a NUL"),
        ({"engine": "density"}, "engine"),
        ({"backend": ""}, "backend"),
        ({"max_qubits": 0}, "max_qubits"),
        ({"max_qubits": 257}, "max_qubits"),
        ({"max_qubits": True}, "max_qubits"),
        ({"params": None}, "params"),
        ({"params": {}}, "params.shots"),
        ({"params": {"shots": 0}}, "params.shots"),
        ({"params": {"shots": 100_001}}, "params.shots"),
        ({"params": {"shots": 1.5}}, "params.shots"),
        ({"params": {"shots": "100"}}, "params.shots"),
        ({"params": {"shots": True}}, "params.shots"),
        ({"params": {"shots": 1, "seed": -1}}, "params.seed"),
        ({"params": {"shots": 1, "seed": 2**63}}, "params.seed"),
        ({"params": {"shots": 1, "seed": "7"}}, "params.seed"),
        ({"params": {"shots": 1, "optimization_level": 4}}, "params.optimization_level"),
        ({"params": {"shots": 1, "noise_model": 7}}, "params.noise_model: must be an object"),
        ({"params": {"shots": 1, "extract_state_vector": "yes"}}, "params.extract_state_vector: must be true or false"),
        ({"params": {"shots": 1, "observables": "ZZ"}}, "params.observables: must be a list of texts"),
        ({"params": {"shots": 1, "observables": [5]}}, "params.observables: must be a list of texts"),
        ({"params": {"shots": 1, "observables": []}}, "params.observables: must be 1 to 100 observables (got 0)"),
        ({"params": {"shots": 1, "observables": ["Z"] * 101}}, "params.observables: must be 1 to 100 observables"),
        (
            {"params": {"shots": 1, "observables": ["ZZ", "Zz"]}},
            "params.observables: 'Zz' cannot be read at character 2",
        ),
        ({"params": {"shots": 1, "observables": ["ZZ + X"]}}, "different numbers of letters"),
        ({"params": {"shots": 1, "observables": ["1e999*Z"]}}, "params.observables: "),
        ({"params": {"shots": 1, "observables_method": "best"}}, "params.observables_method: must be exact or sampled"),
        ({"params": {"shots": 1, "a\0b": 1}}, "NUL"),
        ({"limits": {"wall_seconds": 0}}, "limits.wall_seconds"),
        ({"limits": {"wall_seconds": 901}}, "limits.wall_seconds"),
        ({"limits": 5}, "limits"),
    ],
)
def test_a_field_beyond_its_limits_is_a_400_that_names_it(
    executor: Executor, change: dict[str, Any], message: str
) -> None:
    answer = executor.http.post("/run", json={**executor.request(qasm(BELL)), **change})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "validation_error"
    assert message in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"run_id": NaN}',
        b'{"params": {"shots": 1e400}}',
        b"[" * 100_000,
        b'{"a":' * 40 + b"1" + b"}" * 40,
        b'{"run_id": "\\ud800"}',
        b'{"\\udfff": 1}',
        b'{"params": {"shots": ' + b"9" * 5000 + b"}}",
    ],
)
def test_a_body_that_is_not_plain_json_is_a_400(executor: Executor, body: bytes) -> None:
    answer = executor.http.post("/run", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "validation_error"


def test_a_body_above_4_mib_is_a_413_declared_or_not(executor: Executor) -> None:
    body = b" " * (4 * 1024 * 1024 + 1)
    assert executor.http.post("/run", content=body).status_code == 413
    chunked = (body[start : start + 65536] for start in range(0, len(body), 65536))
    assert executor.http.post("/run", content=chunked).status_code == 413


def test_a_run_is_accepted_and_then_answered_with_its_result_as_text(executor: Executor) -> None:
    answer = executor.run(qasm(BELL), shots=1000, params={"seed": 7, "optimization_level": 2})
    assert answer.status == 200
    named = {"run_id": "test", "framework": "openqasm", "executor": executor.health()["instance_id"]}
    assert answer.lines[0] == {"accepted": named}
    assert [line["artifact"]["name"] for line in answer.lines if "artifact" in line] == ["circuit.qasm"]
    outcome = answer.outcome
    assert set(outcome) == {"status", "execution_time_ms", "result"}
    assert isinstance(outcome["result"], str)
    result = answer.result
    assert set(result) == {"counts", "shots", "backend", "execution_time_ms", "circuit_info", "metadata", "warnings"}
    assert set(result["counts"]) == {"00", "11"}
    assert list(result["counts"]) == sorted(result["counts"])
    assert sum(result["counts"].values()) == result["shots"] == 1000
    assert result["backend"] == "aer-statevector"
    assert result["execution_time_ms"] == outcome["execution_time_ms"] > 0
    metadata = result["metadata"]
    digest = metadata.pop("circuit_sha256")
    assert len(digest) == len(hashlib.sha256().hexdigest())
    assert metadata.pop("engine_version") == executor.health()["engines"][0]["version"]
    assert metadata.pop("framework_version").startswith("qiskit 2.")
    assert metadata == {
        "bit_order": "qubit 0 leftmost",
        "count_source": "simulator_sampled",
        "shots_requested": 1000,
        "shots_observed": 1000,
        "registers": [{"name": "c", "size": 2, "qubits": [0, 1]}],
        "seed": 7,
        "engine": "statevector",
        "optimization_level": 2,
        "provider_job_id": None,
        "calibration_id": None,
    }
    assert (
        executor.run(qasm(BELL), shots=1000, params={"seed": 7, "optimization_level": 2}).result["counts"]
        == (result["counts"])
    )


def test_printed_text_comes_with_the_result_and_never_replaces_it(executor: Executor) -> None:
    code = "from qiskit import QuantumCircuit\nprint('shots', shots, params['theta'], params['big'], backend)\n"
    code += 'print(\'{"counts": {"1": 100}}\')\ncircuit = QuantumCircuit(1)'
    answer = executor.run(python(code), params={"theta": 0.5, "big": 2**80})
    assert answer.result["counts"] == {"0": 100}
    assert answer.result["stdout"].splitlines()[0] == f"shots 100 0.5 {2**80} aer-statevector"
    [printed] = [line["artifact"] for line in answer.lines if line.get("artifact", {}).get("name") == "stdout.txt"]
    assert base64.b64decode(printed["chunk"]).decode() == answer.result["stdout"]


def test_the_users_error_carries_its_line_and_what_was_printed(executor: Executor) -> None:
    answer = executor.run(python("print('before')\n\nraise ValueError('no good')"))
    assert answer.error == {"code": "execution_error", "message": "ValueError: no good", "line": 3}
    assert answer.outcome["stdout"] == "before\n"


def test_a_log_line_is_json_and_holds_no_code() -> None:
    from qjs_executor.logs import _JsonLines, facts, log

    def line(level: int, **values: object) -> dict[str, object]:
        record = log.makeRecord("executor", level, "", 0, "run ended", (), None, extra=facts(**values))
        return dict(json.loads(_JsonLines().format(record)))

    found = line(30, run_id="r")
    assert (found["process"], found["level"], found["run_id"], found["msg"]) == ("executor", "warn", "r", "run ended")
    assert "job_id" not in found
    job = "01a20677-dab3-7454-be6b-1d0e5ff595f6"
    assert [line(20, run_id=run)["job_id"] for run in (job, f"{job}.0a1b")] == [job, job]


def test_a_log_line_names_the_job_the_team_and_the_request(executor: Executor) -> None:
    job, request = "01a20677-dab3-7454-be6b-1d0e5ff595f7", "7e1f0f5c-3c0e-4b7c-9d6a-0f2f3a1f8f10"
    assert executor.run(qasm(BELL), run_id=job, request_id=request, keys={"team": "the team"}).status == 200
    # The line is written after the answer.
    eventually(lambda: request in executor.log, 60, "the run is logged")
    [line] = [json.loads(line) for line in executor.log.splitlines() if request in line]
    assert line["msg"] == "run ended"
    assert (line["job_id"], line["team_id"], line["request_id"]) == (job, "the team", request)
