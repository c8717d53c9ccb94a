"""Sweeps: many points in one execution, each with the result that it would have alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ..support.executor import BELL, Executor, qasm

STD = 'OPENQASM 3.0; include "stdgates.inc"; '
ANSATZ = STD + "input float theta; qubit[2] q; rx(theta) q[0];"
PI = 3.141592653589793


def code(text: str, framework: str) -> dict[str, str]:
    """A source of a framework."""
    return {"kind": "code", "framework": framework, "code": text}


def circuit(payload: str) -> dict[str, str]:
    """A circuit as a source."""
    return {"kind": "circuit", "format": "qasm3", "payload": payload}


def swept(
    executor: Executor, source: dict[str, Any], points: list[dict[str, Any]], **params: Any
) -> list[dict[str, Any]]:
    """The outcomes of the points, requested until there are all of them."""
    outcomes: list[dict[str, Any]] = []
    while len(outcomes) < len(points):
        answer = executor.run(source, params=params, points=points[len(outcomes) :])
        assert answer.outcome["status"] == "completed", answer.outcome
        assert answer.outcome["points"]
        outcomes += answer.outcome["points"]
    return outcomes


def results(outcomes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [json.loads(one["result"]) for one in outcomes]


@pytest.mark.parametrize(
    "source",
    [
        qasm(ANSATZ),
        code("from qiskit import QuantumCircuit\ncircuit = QuantumCircuit(2)\ncircuit.rx(params['theta'], 0)", "qiskit"),
        code("import cirq\nq = cirq.LineQubit.range(2)\ncircuit = cirq.Circuit(cirq.rx(params['theta'])(q[0]), cirq.I(q[1]))", "cirq"),
        code("from qiskit import QuantumCircuit\nc = QuantumCircuit(2)\nc.rx(params['theta'], 0)\ndevice.run(c, shots)", "qiskit"),
    ],
    ids=["openqasm", "qiskit", "cirq", "device"],
)  # fmt: skip
def test_each_point_has_the_result_of_its_own_parameters(executor: Executor, source: dict[str, Any]) -> None:
    points: list[dict[str, Any]] = [
        {"params": {"theta": PI}},
        {"params": {"theta": 0}},
        {"params": {"theta": PI, "shots": 7, "seed": 5}},
    ]
    seen = results(swept(executor, source, points, shots=50))
    assert [one["counts"] for one in seen] == [{"10": 50}, {"00": 50}, {"10": 7}]
    assert [one["shots"] for one in seen] == [50, 50, 7]
    assert [one["metadata"]["seed"] for one in seen] == [None, None, 5]


def test_the_result_of_a_point_is_that_of_a_run_of_its_own_but_for_the_time_and_the_diagram(executor: Executor) -> None:
    program = "import cirq\nq = cirq.LineQubit.range(2)\ncircuit = cirq.Circuit(cirq.H(q[0]), cirq.CNOT(*q))"
    for source in (qasm(BELL), code(program, "cirq"), code(program, "auto")):
        params = {"shots": 200, "seed": 11, "observables": ["ZZ", "XI"]}
        alone = executor.run(source, params=params).result
        [point] = results(swept(executor, source, [{}], **params))
        assert point.pop("execution_time_ms") is None
        alone.pop("execution_time_ms")
        alone["circuit_info"]["diagram"] = "(no diagram: a point of a sweep)"
        assert point == alone


def test_circuits_of_their_own_run_side_by_side(executor: Executor) -> None:
    points: list[dict[str, Any]] = [
        {"circuit": {"format": "qasm3", "payload": STD + "qubit[3] q; x q[0];"}},
        {"circuit": {"format": "qasm2", "payload": 'OPENQASM 2.0; include "qelib1.inc"; qreg q[2]; x q[1];'}},
        {"params": {"shots": 3}},
    ]
    seen = results(swept(executor, circuit(STD + "qubit q;"), points, shots=5))
    assert [one["counts"] for one in seen] == [{"100": 5}, {"01": 5}, {"0": 3}]


def test_a_value_that_a_program_returns_stands_for_itself(executor: Executor) -> None:
    source = code("def main(n, shots):\n    print('point', n)\n    return {'counts': n} if n else n", "qiskit")
    answer = executor.run(source, params={"shots": 1}, points=[{"params": {"n": n}} for n in (0, 10**30)])
    seen = results(answer.outcome["points"])
    assert [one["value"] for one in seen] == [0, {"counts": 10**30}]
    assert answer.outcome["stdout"] == "point 0\npoint 1000000000000000000000000000000\n"


def test_a_point_that_fails_spares_the_others(executor: Executor) -> None:
    source = code("def main(n):\n    return 1 / n", "qiskit")
    outcomes = swept(executor, source, [{"params": {"n": n}} for n in (1, 0, 2)], shots=1)
    assert [one.get("error", {}).get("message") for one in outcomes] == [
        None,
        "ZeroDivisionError: division by zero",
        None,
    ]
    assert outcomes[1]["error"] == {
        "code": "execution_error",
        "message": "ZeroDivisionError: division by zero",
        "line": 2,
    }
    outcomes = swept(executor, qasm(ANSATZ), [{"params": {"theta": 0}}, {}, {"params": {"theta": "x"}}], shots=1)
    assert ["error" in one for one in outcomes] == [False, True, True]
    assert "unbound parameters: theta" in outcomes[1]["error"]["message"]


def test_a_state_vector_that_is_a_file_fails_its_point(executor: Executor) -> None:
    points = [{"circuit": {"format": "qasm3", "payload": f"{STD}qubit[{n}] q; x q[0];"}} for n in (2, 15)]
    small, large = swept(executor, circuit(BELL), points, shots=1, extract_state_vector=True)
    assert json.loads(small["result"])["state_vector"] == [[0, 0], [0, 0], [1, 0], [0, 0]]
    assert large["error"]["message"].startswith("extract_state_vector: in a sweep up to 14 qubits")


def test_a_crash_ends_the_whole_request_with_its_reason(executor: Executor) -> None:
    answer = executor.run(
        code("import os\ndef main(n):\n    os._exit(n)", "qiskit"), params={"shots": 1}, points=[{"params": {"n": 3}}]
    )
    assert answer.outcome["status"] == "failed"
    assert answer.outcome["error"]["message"] == "crashed: exit code 3"


def test_a_thousand_points_arrive_in_order_in_a_few_requests(executor: Executor) -> None:
    points = [{"params": {"theta": PI * (n % 2)}} for n in range(1_000)]
    seen = results(swept(executor, qasm(ANSATZ), points, shots=10))
    assert [one["counts"] for one in seen] == [{"00": 10}, {"10": 10}] * 500


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([], "points: must be a list of 1 to 1000 points (got 0)"),
        ([{}] * 1_001, "points: must be a list of 1 to 1000 points (got 1001)"),
        ("all", "points: must be a list"),
        ([{"params": 1}], "points[0].params: must be an object"),
        ([{}, {"theta": 1}], "points[1]: must be an object with params, circuit or both"),
        ([{}, {"params": {"shots": 0}}], "points[1]: params.shots: must be an integer"),
        ([{"circuit": {"format": "qasm3"}}], "points[0]: source.payload"),
        ([{"circuit": "x"}], "points[0].circuit: must be an object"),
    ],
)
def test_points_beyond_their_limits_are_a_400_that_names_them(executor: Executor, points: Any, message: str) -> None:
    answer = executor.http.post("/run", json={**executor.request(circuit(BELL)), "points": points})
    assert answer.status_code == 400
    assert message in answer.json()["error"]["message"]


def test_a_sweep_takes_no_members_of_a_script_and_code_no_circuits(executor: Executor) -> None:
    for body in ({"graphs": "ask", "script": {"seed": 1, "now": 1.0}}, {"source": code("x = 1", "qiskit")}):
        circuit = {"circuit": {"format": "qasm3", "payload": "x"}}
        answer = executor.http.post("/run", json={**executor.request(qasm(BELL)), "points": [circuit], **body})
        assert answer.status_code == 400
