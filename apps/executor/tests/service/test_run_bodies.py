"""The script members of POST /run: what is accepted, and what is refused with its place in the body."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from qjs_executor.job import ASKS_MAX, Limits, Script
from qjs_executor.service.request_fields import InvalidRequest, request_object
from qjs_executor.service.run_request import parse_run_request
from qjs_executor.service.script_request import VALUES_CHARACTERS_MAX

from ..support.executor import BELL, Executor, qasm

ASK: dict[str, Any] = {"graphs": "ask", "script": {"seed": 2**63 - 1, "now": 1.7e9}}
DIGEST = "0" * 64
TASK: dict[str, Any] = {"function": "Zg==", "name": "f", "arguments": "{}", "values": {}}
FINISH: dict[str, Any] = {"name": "wf", "output": "null", "values": {}}
ENTRY: dict[str, Any] = {"model": "single_task", "entrypoint": "f", "input": "{}"}
COUNTS = {"digest": DIGEST, "counts": '{"01": 3, "10": 0}'}


def script(**fields: Any) -> Script:
    """The script of a request with these fields."""
    body = {
        "run_id": "r",
        "source": qasm(BELL),
        "backend": "b",
        "engine": "statevector",
        "max_qubits": 4,
        "params": {"shots": 1},
        **fields,
    }
    request = asyncio.run(request_object(json.dumps(body).encode()))
    return parse_run_request(request, Limits())[0].script


def test_a_body_without_script_members_is_a_plain_run() -> None:
    assert script() == Script()
    assert not Script().may_ask


def test_each_script_member_arrives_unchanged() -> None:
    assert script(**ASK) == Script(graphs="ask", seed=2**63 - 1, now=1.7e9)
    assert script(task=TASK).task == TASK
    assert script(finish=FINISH, workflow_metadata='{"a": 1e5}').workflow_metadata == '{"a": 1e5}'
    assert script(entry=ENTRY, **ASK).entry == ENTRY
    assert script(finish=FINISH, task_shots=[1, 100_000]).task_shots == [1, 100_000]
    graph = {"digest": DIGEST, "values": {"task_0001": "1"}, "metadata": None}
    answers = [graph, {"digest": DIGEST, "error": "no"}, COUNTS]
    assert script(answers=answers, **{**ASK, "circuits": "ask"}).answers == answers
    known = {**COUNTS, "count_source": "probability_derived", "provider_job_id": "p-1"}
    assert script(answers=[known], **{**ASK, "circuits": "ask"}).answers == [known]
    assert script(resume={"run_id": "p"}, answers=[COUNTS], **ASK).resume == "p"
    assert script(task=TASK, **{**ASK, "graphs": "here", "circuits": "ask"}).may_ask
    assert not script(finish=FINISH, entry=ENTRY, **ASK).may_ask


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"graphs": "there"}, "graphs: must be here or ask"),
        ({"circuits": None}, "circuits: must be here or ask"),
        ({"graphs": "ask"}, "script: must be an object with seed and now"),
        ({**ASK, "script": {"seed": 1}}, "script: must be an object with seed, now and nothing else"),
        ({**ASK, "script": {"seed": -1, "now": 0}}, "script.seed: must be an integer from 0"),
        ({**ASK, "script": {"seed": True, "now": 0}}, "script.seed"),
        ({**ASK, "script": {"seed": 1, "now": 1e12}}, "script.now: must be a number"),
        ({"task": TASK, "finish": FINISH}, "finish: excludes task"),
        ({"finish": FINISH, "task_shots": [1, 2, 3]}, "task_shots: must be a list of at most two numbers"),
        ({"finish": FINISH, "task_shots": [0]}, "task_shots: must be"),
        ({"task": TASK, "entry": ENTRY}, "entry: excludes task"),
        ({"task": {**TASK, "team": "t"}}, "task: must be an object with function, name, arguments, values"),
        ({"task": {**TASK, "function": "%"}}, "task.function: must be base64"),
        ({"task": {**TASK, "values": {"task_1": "1"}}}, "task.values (a key): must be the id of a task"),
        ({"task": {**TASK, "values": {"2.task_0001": "1"}}}, "task.values (a key)"),
        ({"task": {**TASK, "values": {"task_0001": 1}}}, "task.values.task_0001: must be a text"),
        ({"finish": {**FINISH, "output": ""}}, "finish.output: must be a text of 1"),
        ({"entry": {**ENTRY, "model": "job"}}, "entry.model: must be one of native_workflow, single_task"),
        ({"entry": {**ENTRY, "entrypoint": "a.b"}}, "entry.entrypoint"),
        ({"workflow_metadata": "[]"}, "workflow_metadata: must be JSON of an object"),
        ({"workflow_metadata": "{NaN"}, "workflow_metadata: must be JSON of an object"),
        ({"answers": [COUNTS]}, "answers: belong to a run with graphs or circuits set to ask"),
        ({**ASK, "answers": {}}, "answers: must be a list"),
        ({**ASK, "answers": [COUNTS] * (ASKS_MAX + 1)}, f"answers: must be a list of at most {ASKS_MAX}"),
        ({**ASK, "answers": [{}]}, "answers[0]: must be an object with digest and one of"),
        ({**ASK, "answers": [{**COUNTS, "error": "e"}]}, "answers[0]: must be an object with digest and one of"),
        ({**ASK, "answers": [{**COUNTS, "metadata": "{}"}]}, "answers[0]: must be an object"),
        ({**ASK, "answers": [{**COUNTS, "digest": "A" * 64}]}, "answers[0].digest"),
        ({**ASK, "answers": [{**COUNTS, "counts": '{"2": 1}'}]}, "answers[0].counts: its keys must be strings of 0"),
        ({**ASK, "answers": [{**COUNTS, "counts": '{"0": 1, "01": 1}'}]}, "answers[0].counts: its keys"),
        ({**ASK, "answers": [{**COUNTS, "counts": '{"0": -1}'}]}, "answers[0].counts: its values"),
        ({**ASK, "answers": [{**COUNTS, "counts": '{"0": 1.5}'}]}, "answers[0].counts: its values"),
        ({**ASK, "answers": [{**COUNTS, "counts": "{"}]}, "answers[0].counts"),
        ({**ASK, "answers": [{**COUNTS, "count_source": "dice"}]}, "answers[0].count_source: must be one of"),
        ({**ASK, "answers": [{**COUNTS, "provider_job_id": 7}]}, "answers[0].provider_job_id: must be a text"),
        ({**ASK, "resume": {"run_id": "p"}}, "answers: must be the one answer"),
        ({**ASK, "resume": {"run_id": "p"}, "answers": [COUNTS] * 2}, "answers: must be the one answer"),
        ({**ASK, "resume": "p", "answers": [COUNTS]}, "resume: must be an object with run_id"),
        ({"task": {**TASK, "name": "a\0"}}, "task.name: contains a NUL"),
    ],
)
def test_unknown_or_malformed_script_members_are_refused_by_name(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        script(**fields)
    assert message in str(refused.value)


def test_the_values_of_a_task_are_bounded_together() -> None:
    half = "1" * (VALUES_CHARACTERS_MAX // 2 + 1)
    with pytest.raises(InvalidRequest, match=r"task\.values: must have at most 32 MiB together"):
        script(task={**TASK, "values": {"task_0001": half, "task_0002": half}})


def test_only_a_body_that_brings_values_may_be_large(executor: Executor) -> None:
    request = executor.request(qasm(BELL), params={"note": "x" * 5_000_000})
    for path in ("/run", "/convert"):
        answer = executor.http.post(path, json=request)
        assert (answer.status_code, answer.json()["error"]["message"]) == (413, "body: larger than 4194304 bytes")
    # The word alone opens no door.
    request["params"]["task"] = None
    assert executor.http.post("/run", json=request).status_code == 413
    huge = executor.http.post("/run", content=iter([b"{" * 1_000_000] * 70))
    assert (huge.status_code, huge.json()["error"]["message"]) == (413, "body: larger than 67108864 bytes")


def test_a_task_takes_values_of_many_megabytes(executor: Executor) -> None:
    values = {f"task_{number:04}": json.dumps("x" * 5_000_000) for number in (1, 2)}
    task = {**TASK, "arguments": '{"args": [], "kwargs": {}}', "values": values}
    source = {"kind": "code", "framework": "marqov", "code": "from marqov import task"}
    answer = executor.run(source, task=task)
    # The function is not a pickle; only the child finds out.
    assert answer.error["code"] == "execution_error"
    assert answer.status == 200
