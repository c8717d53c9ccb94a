"""The message to a child: both sides read the same fields, and only those."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from qjs_executor.execution_request import ExecutionRequest, RequestKind, ScriptTerms
from qjs_executor.job import Job, JobParams, Script

TASK = {"function": "", "name": "f", "arguments": "{}", "values": {"task_0001": "1"}}
JOB = Job(
    run_id="test",
    source={"kind": "code", "framework": "qiskit", "code": "pass"},
    backend="aer-noisy",
    engine="noisy",
    max_qubits=4,
    params=JobParams(shots=7, seed=2**62, optimization_level=0, noise_model={"t1": 1.5}, given={"shots": 7, "n": [1]}),
    kind="compile",
    details={"target": {"format": "ionq"}},
    circuit_facts={"register_names": ["é"]},
    script=Script(circuits="ask", seed=1, now=2.5, task=TASK, workflow_metadata="{}", resume="a", task_of="b"),
)


def test_a_child_parses_exactly_what_the_shell_asked() -> None:
    request = JOB.execution_request
    assert ExecutionRequest.parse(json.loads(json.dumps(request.message()))) == request
    assert request.params == {"shots": 7, "n": [1], "backend": "aer-noisy"}
    assert (request.kind, request.shots, request.script.task) == ("compile", 7, TASK)


def test_what_only_the_shell_needs_to_know_of_a_script_is_not_sent() -> None:
    assert not {"resume", "task_of", "workflow_metadata"} & JOB.execution_request.message()["script"].keys()
    assert JOB.script.terms == ScriptTerms(circuits="ask", seed=1, now=2.5, task=TASK)


@pytest.mark.parametrize("part", ["message", "script"])
def test_a_message_with_an_unknown_field_is_rejected(part: str) -> None:
    message = JOB.execution_request.message()
    (message if part == "message" else message["script"])["task_of"] = "b"
    with pytest.raises(TypeError, match="task_of"):
        ExecutionRequest.parse(message)


def test_every_kind_of_request_has_one_name() -> None:
    assert get_args(RequestKind) == ("run", "convert", "compile", "analyse", "capture", "detect", "engines")
