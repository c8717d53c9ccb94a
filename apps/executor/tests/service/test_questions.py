"""POST /compile, /analyse and /capture: questions about a source that run no job."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from ..support.analog import PROGRAM, TARGET, text_of
from ..support.executor import BELL, Executor

CIRQ = "import cirq\na, b = cirq.LineQubit.range(2)\ncircuit = cirq.Circuit(cirq.H(a), cirq.CNOT(a, b), cirq.measure(a, b, key='c'))"
WORKFLOW = """
import marqov

@marqov.task(retries=2)
def square(x):
    return x * x

@marqov.workflow
def squares(n):
    return {"small": square(n), "large": square(10**30)}
"""


def _ask(executor: Executor, path: str, **body: Any) -> httpx.Response:
    return executor.http.post(path, json=body)


def _source(code: str, framework: str = "auto") -> dict[str, str]:
    return {"kind": "code", "framework": framework, "code": code}


@pytest.mark.parametrize(
    "source", [_source(BELL), _source(CIRQ), {"kind": "circuit", "format": "qasm3", "payload": BELL}]
)
def test_a_source_is_compiled_for_a_provider(executor: Executor, source: dict[str, str]) -> None:
    answer = _ask(executor, "/compile", source=source, target={"format": "ionq"})
    assert answer.status_code == 200, answer.text
    compiled = answer.json()
    program = json.loads(compiled["program"])
    assert (compiled["format"], compiled["qubits"], program["qubits"]) == ("ionq", 2, 2)
    assert [gate["gate"] for gate in program["circuit"]] in (["h", "cnot"], ["h", "x"])
    assert compiled["circuit_info"]["num_qubits"] == 2


NEVER = 'raise SystemExit("a script was run")'


@pytest.mark.parametrize(
    "code",
    [
        f"import qiskit\n\ndef main(shots):\n    {NEVER}\n",
        f"import qiskit\n\nasync def main(client, params):\n    {NEVER}\n",
        "import qiskit\n\ncircuit = qiskit.QuantumCircuit(1)\n\ndef main():\n    return circuit\n",
        WORKFLOW,
        f"{WORKFLOW}\n@marqov.workflow\ndef another():\n    return square(1)\n",
        # Wider than any simulator: it would fail if it ran here.
        "import qiskit\n\ncircuit = qiskit.QuantumCircuit(36)\ncircuit.h(range(36))\ncounts = device.run(circuit, 10)\n",
        f"import qiskit\n\ntry:\n    device.run(qiskit.QuantumCircuit(1), 1)\nexcept BaseException:\n    pass\n{NEVER}\n",
        f"import qiskit\n\ntry:\n    device.run(1, shots=-1)\nexcept BaseException:\n    pass\ncircuit = qiskit.QuantumCircuit(1)\ndevice.run(circuit)\n{NEVER}\n",
    ],
    ids=["main", "async_main", "main_gives_circuit", "workflow", "workflows", "device_run", "device_run_kept", "twice"],
)
def test_compiling_a_script_is_refused_before_any_of_its_circuits_runs(executor: Executor, code: str) -> None:
    target = {"format": "ionq", "num_qubits": 36}
    answer = _ask(executor, "/compile", source=_source(code), target=target, params={"shots": 10})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "no_circuit"), answer.text


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        ("import qiskit\nx = 1\n", "execution_error", "No circuit"),
        ("import qiskit\nprint(1 / 0)\n", "execution_error", "ZeroDivisionError"),
    ],
)
def test_compiling_broken_code_fails_with_its_own_error(
    executor: Executor, code: str, error: str, message: str
) -> None:
    answer = _ask(executor, "/compile", source=_source(code), target={"format": "ionq"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, error), answer.text
    assert message.lower() in answer.json()["error"]["message"].lower()


def test_what_a_target_cannot_express_is_refused_with_its_operation_qubit_and_line(executor: Executor) -> None:
    code = 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q;\nh q[0];\nreset q[1];\n'
    answer = _ask(executor, "/compile", source=_source(code), target={"format": "ionq"})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["line"]) == (422, "unsupported_operation", 5)
    assert "reset" in error["message"] and "1" in error["message"]


@pytest.mark.parametrize(
    ("target", "where"),
    [
        ({"format": "abacus"}, "target"),
        (None, "target"),
        ([], "target"),
        ({"format": "ibm", "basis_gates": 7}, "target"),
    ],
)
def test_an_unknown_target_is_400(executor: Executor, target: Any, where: str) -> None:
    answer = _ask(executor, "/compile", source=_source(BELL), target=target)
    assert answer.status_code == 400 and where in answer.json()["error"]["message"]


def _analog(payload: str) -> dict[str, str]:
    return {"kind": "circuit", "format": "ahs", "payload": payload}


def test_an_analog_program_is_passed_on_unchanged(executor: Executor) -> None:
    payload = text_of(PROGRAM)
    answer = _ask(executor, "/compile", source=_analog(payload), target=TARGET)
    assert answer.status_code == 200, answer.text
    compiled = answer.json()
    assert compiled["program"] == payload and compiled["qasm"] is None
    assert compiled["readout"] == {"kind": "sites", "bits": [0, 1, 2, 3]}
    assert compiled["circuit_info"] == {
        "num_qubits": 4,
        "num_atoms": 3,
        "duration_seconds": 4e-6,
        "has_local_detuning": False,
        "registers": [{"name": "sites", "size": 4}],
    }


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (_analog(text_of(PROGRAM).replace("5.5e-6", "1e-6")), TARGET, "are too close"),
        (_analog("{}"), TARGET, "braketSchemaHeader is missing"),
        (_analog(text_of(PROGRAM)), {"format": "braket"}, "target braket: the source is an analog program"),
        (_source(f"import qiskit\n{NEVER}"), TARGET, "target ahs: the device runs analog programs (ahs) only"),
    ],
)
def test_what_an_analog_device_cannot_run_is_refused(
    executor: Executor, source: dict[str, str], target: dict[str, Any], message: str
) -> None:
    answer = _ask(executor, "/compile", source=source, target=target)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (422, "unsupported_operation")
    assert message in error["message"]


def test_no_engine_runs_an_analog_program(executor: Executor) -> None:
    source = _analog(text_of(PROGRAM))
    run = {"source": source, "run_id": "1", "backend": "local", "engine": "statevector", "max_qubits": 4}
    for path, body in (("/run", {**run, "params": {"shots": 1}}), ("/convert", {"source": source})):
        answer = _ask(executor, path, **body)
        assert answer.status_code == 400
        assert "source.format: must be one of qasm2, qasm3: no engine here runs analog" in answer.text


def test_an_analog_program_is_no_script(executor: Executor) -> None:
    answer = _ask(executor, "/analyse", code=text_of(PROGRAM)).json()
    assert (answer["framework"], answer["qubits"]) == (None, 4)
    [error] = answer["errors"]
    assert "submit it as a circuit of the format ahs" in error["message"]


def test_a_script_is_recognised_without_running_it(executor: Executor) -> None:
    answer = _ask(executor, "/analyse", code=WORKFLOW, requirements="numpy\nhttp://example.org/x.whl\n").json()
    assert (answer["framework"], answer["script_type"], answer["entry_point"]) == ("marqov", "workflow", "squares")
    assert [function["name"] for function in answer["functions"]] == ["square", "squares"]
    assert [error["source"] for error in answer["errors"]] == ["requirements"]


def test_reading_a_script_runs_nothing_of_it(executor: Executor) -> None:
    answer = _ask(executor, "/analyse", code="import os\nos._exit(3)\nwhile True: pass")
    assert answer.status_code == 200 and answer.json()["script_type"] == "script"


def test_a_workflows_graph_keeps_its_shape_and_its_integers(executor: Executor) -> None:
    pytest.importorskip("marqov")
    answer = _ask(executor, "/capture", code=WORKFLOW, arguments={"args": [3], "kwargs": {}})
    assert answer.status_code == 200, answer.text
    graph = json.loads(answer.text)
    assert [(node["func_name"], node["retries"]) for node in graph["nodes"]] == [("square", 2), ("square", 2)]
    assert [node["args"] for node in graph["nodes"]] == [[3], [10**30]]
    assert str(10**30) in answer.text


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, "code"),
        ({"code": WORKFLOW, "arguments": [1]}, "arguments"),
        ({"code": WORKFLOW, "arguments": {"args": {}, "kwargs": {}}}, "arguments"),
        ({"code": WORKFLOW, "entrypoint": 7}, "entrypoint"),
        ({"code": WORKFLOW, "limits": {"wall_seconds": 11}}, "limits.wall_seconds"),
        ({"code": WORKFLOW, "params": {"seed": "seven"}}, "params.seed"),
    ],
)
def test_a_malformed_question_is_400_with_its_place(executor: Executor, body: dict[str, Any], where: str) -> None:
    answer = _ask(executor, "/capture", **body)
    assert answer.status_code == 400 and answer.json()["error"]["message"].startswith(where)


def test_an_endless_workflow_is_stopped(executor: Executor) -> None:
    pytest.importorskip("marqov")
    code = "import marqov\n@marqov.workflow\ndef w():\n    while True: pass"
    answer = _ask(executor, "/capture", code=code, limits={"wall_seconds": 1})
    assert (answer.status_code, answer.json()["error"]["message"]) == (422, "time limit of 1 s")
