"""Scripts that make requests while they run: what they request, what an answer brings, and which requests are
forged."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from qjs_executor.job import ASKS_MAX

from ..support.asking import (
    ADD,
    CIRCUIT,
    CIRCUIT_DIGEST,
    FRAMES,
    TWICE,
    UNPARKED,
    answer_to,
    asked,
    begin,
    circuit_ask,
    end_waiting,
    graph_ask,
    graph_of,
    marqov,
    node,
    resume_run,
    values_of,
)
from ..support.executor import Executor, eventually, python

NAN = float("nan")


@pytest.fixture(autouse=True)
def no_run_waits(executor: Executor) -> Iterator[None]:
    """Kills a run that a test leaves waiting."""
    yield
    end_waiting(executor)


def test_a_script_gets_its_answers_in_the_child_that_asked(executor: Executor) -> None:
    first = begin(executor, TWICE, "twice")
    assert first.outcome["parked"] is True
    assert first.outcome["stdout"] == "begins\n"
    ask = asked(first)
    assert (ask["number"], ask["final"], ask["graph"]["returns"]) == (1, False, ["task_0002"])
    # One that an earlier test has left may still be dying.
    eventually(
        lambda: executor.health()["slots"] == {"total": 3, "running": 0, "parked": 1}, 60, "it waits without a slot"
    )
    one = answer_to(executor, TWICE, ask)
    second = resume_run(executor, TWICE, "twice", one)
    assert asked(second)["number"] == 2
    assert second.outcome["stdout"] == "begins\ngoes on\n"
    two = answer_to(executor, TWICE, asked(second))
    last = resume_run(executor, TWICE, "twice", two, workflow_metadata='{"total_tasks": 4}')
    assert last.result["one"] == {"sum": 12, "n": 3}
    assert last.result["two"] == {"sum": 23, "n": 3}
    assert last.result["_workflow_metadata"] == {"total_tasks": 4}
    assert last.result["stdout"] == "begins\ngoes on\n"
    assert last.outcome["execution_time_ms"] > second.outcome["execution_time_ms"] > first.outcome["execution_time_ms"]
    assert executor.health()["slots"]["parked"] == 0
    replayed = begin(executor, TWICE, "replayed", answers=[one, two])
    assert replayed.result["two"] == last.result["two"]


def test_a_repeated_script_makes_its_next_request_under_the_next_number(executor: Executor) -> None:
    one = answer_to(executor, TWICE, asked(begin(executor, TWICE, "first")))
    again = begin(executor, TWICE, "again", answers=[one])
    assert (asked(again)["number"], again.outcome["parked"]) == (2, True)


def test_a_job_that_is_one_workflow_ends_with_its_request_and_another_child_finishes_it(executor: Executor) -> None:
    first = begin(executor, ADD, "final", params={"n": 10**40})
    ask = asked(first)
    assert (ask["final"], first.outcome["parked"]) == (True, False)
    assert executor.health()["slots"]["parked"] == 0
    values = values_of(executor, ADD, ask)
    assert values["task_0002"] == str(10**40 + 11)
    finish = {"name": "wf", "output": ask["graph"]["output"], "values": {"task_0002": values["task_0002"]}}
    done = executor.run(marqov(ADD), finish=finish, workflow_metadata='{"total_tasks": 2}')
    assert done.result["sum"] == 10**40 + 11, "an integer of any size is what it was"
    assert (done.result["n"], done.result["_workflow_metadata"]) == (3, {"total_tasks": 2})


def test_a_task_returns_its_value_exactly_and_for_display(executor: Executor) -> None:
    code = "from marqov import Circuit, task, workflow\n@task\ndef make(): return Circuit().h(0)\n@workflow\ndef wf(): return make()\n"
    ask = asked(begin(executor, code, "circuit"))
    task = ask["graph"]["nodes"][0]
    wanted = {"function": task["function"], "name": "make", "arguments": task["arguments"], "values": {}}
    ended = executor.run(marqov(code), task=wanted).outcome
    assert "__cloudpickle__" in json.loads(ended["result"])
    assert ended["display"] is None
    assert "Circuit" in ended["display_problem"]


COUNTED = "from marqov import get_device, Circuit\nprint(get_device(params).run(Circuit().h(0).cnot(0, 1), 50))\n"


def test_counts_from_the_caller_are_the_result_and_marked_as_the_providers(executor: Executor) -> None:
    fields = {"backend": "ionq-forte", "params": {"seed": 5}}
    first = begin(executor, COUNTED, "counts", **fields)
    ask = asked(first)
    assert (ask["kind"], ask["shots"], ask["openqasm3"][:8]) == ("circuit", 50, "OPENQASM")
    answer = {"digest": ask["digest"], "counts": '{"11": 30, "00": 19}'}
    done = resume_run(executor, COUNTED, "counts", answer, **fields)
    assert done.result["counts"] == {"00": 19, "11": 30}
    metadata = done.result["metadata"]
    assert {name: metadata[name] for name in ("count_source", "engine", "engine_version", "seed")} == {
        "count_source": "provider_counts",
        "engine": None,
        "engine_version": None,
        "seed": None,
    }
    assert (metadata["shots_requested"], metadata["shots_observed"]) == (50, 49)


def test_a_circuit_that_failed_at_the_backend_raises_an_exception_in_the_code(executor: Executor) -> None:
    ask = asked(begin(executor, COUNTED, "failed"))
    done = resume_run(
        executor, COUNTED, "failed", {"digest": ask["digest"], "error": "the machine is being calibrated"}
    )
    assert "the machine is being calibrated" in done.error["message"]


def test_a_program_cannot_pass_counts_of_its_own_for_those_it_was_given(executor: Executor) -> None:
    info = {
        "num_qubits": 1,
        "num_clbits": 1,
        "depth": 1,
        "size": 1,
        "gate_counts": {},
        "two_qubit_gates": 0,
        "num_measurements": 1,
        "has_mid_circuit_measurement": False,
        "diagram": "",
    }
    honest = {"ok": True, "counts": {"0": 10}, "shots": 10, "circuit_info": info, "warnings": [], "circuit": CIRCUIT}
    honest["registers"] = [{"name": "c", "size": 1}]
    for forged in ({"counts": {"1": 10}}, {"circuit": "OPENQASM 3.1;"}, {"circuit": None}, {"shots": 11}):
        code = FRAMES + f"say({{'ask': {circuit_ask()!r}}})\nhear()\nsay({honest | forged!r})\nos._exit(0)"
        ask = asked(begin(executor, code, "forged"))
        answer = {"digest": ask["digest"], "counts": '{"0": 10}'}
        message = resume_run(executor, code, "forged", answer).error["message"]
        assert "not those that the backend gave for this circuit" in message, forged


@pytest.mark.parametrize(
    ("message", "detail"),
    [
        (graph_ask(kind="money"), "ask: kind"),
        (graph_ask(number=7), "ask: number"),
        (graph_ask(number=True), "ask: number"),
        (graph_ask(digest="x" * 64), "ask: digest"),
        (graph_ask(final=1), "ask: final"),
        (circuit_ask(final=True), "ask: final"),
        (graph_ask([]), "ask: graph"),
        (graph_ask({**graph_of(node()), "price": 0}), "ask: graph"),
        (graph_ask(graph_of(node(2))), "ask: task_0001"),
        (graph_ask(graph_of(node(dependencies=["task_0001"]))), "ask: task_0001: dependencies"),
        (graph_ask(graph_of(node(dependencies=["task_0002"]), node(2))), "ask: task_0001: dependencies"),
        (graph_ask(graph_of(node(), node(2, dependencies=["task_0001"] * 2))), "ask: task_0002: dependencies"),
        (graph_ask(graph_of(node(), node(2, dependencies=["task_0001"]))), "ask: graph.levels"),
        (graph_ask(graph_of(node(retries=10**9))), "ask: task_0001: retries"),
        (graph_ask(graph_of(node(timeout_seconds=0))), "ask: task_0001: timeout_seconds"),
        (graph_ask(graph_of(node(timeout_seconds=10**9))), "ask: task_0001: timeout_seconds"),
        (graph_ask(graph_of(node(timeout_seconds=NAN))), "NaN is not a JSON number"),
        (graph_ask(graph_of(node(function="no base64!"))), "ask: task_0001: function"),
        (graph_ask(graph_of(node(func_name=""))), "ask: task_0001: func_name"),
        (graph_ask(graph_of(node(func_name="a\0b"))), "ask: task_0001: func_name"),
        (graph_ask(graph_of(node(name="\ud800"))), "ask: task_0001: name"),
        (graph_ask(graph_of(node(arguments={"args": []}))), "ask: task_0001: arguments"),
        (graph_ask(graph_of(node(team="other"))), "ask: task_0001"),
        (graph_ask(graph_of(node(), returns=["task_0002"])), "ask: graph.returns"),
        (graph_ask(graph_of(node(), returns=["task_0001"] * 2)), "ask: graph.returns"),
        (graph_ask(graph_of(*(node(number) for number in range(1, 2002)))), "nodes"),
        (circuit_ask(shots=0), "ask: shots"),
        (circuit_ask(shots=True), "ask: shots"),
        (circuit_ask(number=1.0), "ask: number"),
        (circuit_ask(facts={"warnings": [], "observables": {}}), "ask: observables"),
        (circuit_ask(facts={"warnings": ["x" * 1001]}), "warnings"),
        (graph_ask(graph_of(node(), output="\0")), "ask: graph.output"),
        (circuit_ask(openqasm3=None), "ask: openqasm3"),
        (circuit_ask(facts=None), "ask: facts"),
        (circuit_ask(registers=[]), "registers"),
        (circuit_ask(openqasm3="OPENQASM 3.1;"), "ask: the digest is not the circuit's"),
    ],
)
def test_a_forged_request_fails_its_run(executor: Executor, message: dict[str, Any], detail: str) -> None:
    code = FRAMES + f"nan = float('nan')\nsay({{'ask': {message!r}}})\nos.read(3, 1)"
    answer = begin(executor, code, "forged")
    assert answer.error["code"] == "execution_error"
    assert answer.error["message"].startswith("crashed: bad result")
    assert detail in answer.error["message"]


def test_a_graph_has_a_limit_of_dependencies(executor: Executor) -> None:
    code = FRAMES + (
        f"node = {node()!r}\nids = ['task_%04d' % number for number in range(1, 2001)]\n"
        "nodes = [{**node, 'node_id': one, 'dependencies': ids[:place]} for place, one in enumerate(ids)]\n"
        f"graph = {{**{graph_of()!r}, 'nodes': nodes, 'levels': [[one] for one in ids]}}\n"
        f"say({{'ask': {{**{graph_ask()!r}, 'graph': graph}}}})\nos.read(3, 1)"
    )
    assert "more than 200000 dependencies" in begin(executor, code, "dense").error["message"]


def test_a_million_tasks_fail_their_run_and_delay_no_other(executor: Executor) -> None:
    code = FRAMES + (
        "say({'ask': {'kind': 'graph', 'number': 1, 'digest': '0' * 64, 'final': False, 'graph': {'name': 'wf', 'nodes':"
        " [{}] * 1_000_000, 'levels': [], 'output': 'null', 'returns': [], 'dot': ''}}})\nos.read(3, 1)"
    )
    assert "bad result (nodes)" in begin(executor, code, "million").error["message"]


def test_a_request_from_a_run_that_may_not_ask_is_rejected(executor: Executor) -> None:
    code = FRAMES + f"say({{'ask': {graph_ask()!r}}})\nos._exit(0)"
    assert "bad result" in executor.run(marqov(code)).error["message"]
    assert "ask: kind" in begin(executor, code, "circuits", graphs="here").error["message"]


def test_a_run_has_a_limit_of_requests(executor: Executor) -> None:
    code = FRAMES + f"say({{'ask': {circuit_ask(number=ASKS_MAX + 1)!r}}})\nos.read(3, 1)"
    answers = [{"digest": CIRCUIT_DIGEST, "counts": '{"1": 10}'}] * ASKS_MAX
    message = begin(executor, code, "many", answers=answers).error["message"]
    assert message.startswith(f"limit of {ASKS_MAX} requests")


def test_a_hundred_requests_in_a_row_are_answered(executor: Executor) -> None:
    code = FRAMES + (
        f"ask = {circuit_ask()!r}\nfor number in range(1, 101):\n    say({{'ask': {{**ask, 'number': number}}}})\n"
        "    assert hear()['answer']['counts'] == '{\"1\": 10}'\nprint('all', flush=True)\nsay({'ok': False, 'code': 'execution_error', 'message': 'told'})"
    )
    for _ in range(5):
        unstopped = executor.log.count(UNPARKED)
        answer = begin(executor, code, "hundred")
        for number in range(1, 101):
            assert asked(answer)["number"] == number
            if not answer.outcome["parked"]:
                break
            answer = resume_run(executor, code, "hundred", {"digest": CIRCUIT_DIGEST, "counts": '{"1": 10}'})
        else:
            break
        assert executor.log.count(UNPARKED) > unstopped, "only a run that could not be stopped in time is not kept"
    assert (answer.error["message"], answer.outcome["stdout"]) == ("told", "all\n")


def test_a_second_request_before_the_answer_is_read_fails_the_run(executor: Executor) -> None:
    code = FRAMES + (
        f"say({{'ask': {circuit_ask()!r}}})\nsay({{'ask': {circuit_ask(number=2)!r}}})\nimport time\ntime.sleep(60)"
    )
    asked(begin(executor, code, "hasty"))
    large = {"digest": CIRCUIT_DIGEST, "error": "x" * 8192}
    answer = resume_run(executor, code, "hasty", large)
    # Two answers fit into the pipe; a program that reads out of turn only harms itself.
    assert answer.outcome["status"] in ("asked", "failed")


def test_messages_after_the_final_request_are_ignored(executor: Executor) -> None:
    code = FRAMES + f"say({{'ask': {graph_ask(final=True)!r}}})\nsay({{'ask': {graph_ask(number=2)!r}}})\nos.read(3, 1)"
    assert asked(begin(executor, code, "last"))["number"] == 1
    answer: dict[str, Any] = {"digest": "0" * 64, "values": {}, "metadata": None}
    assert resume_run(executor, code, "last", answer).status == 409


def test_a_wrong_answer_is_refused_and_the_run_still_waits(executor: Executor) -> None:
    ask = asked(begin(executor, TWICE, "wrong"))
    wrong: list[dict[str, Any]] = [
        {"digest": "f" * 64, "values": {}, "metadata": None},
        {"digest": ask["digest"], "counts": '{"1": 10}'},
    ]
    for answer in wrong:
        refused = resume_run(executor, TWICE, "wrong", answer)
        assert refused.status == 400
        assert refused.lines[0]["error"]["message"].startswith("answers[0]")
    assert asked(resume_run(executor, TWICE, "wrong", answer_to(executor, TWICE, ask)))["number"] == 2


def test_an_answer_for_an_unknown_run_is_409(executor: Executor) -> None:
    answer: dict[str, Any] = {"digest": "0" * 64, "values": {}, "metadata": None}
    refused = resume_run(executor, TWICE, "never begun", answer)
    assert refused.status == 409
    assert refused.lines[0]["error"]["code"] == "not_parked"


def test_sets_of_texts_are_in_the_same_order_in_every_child_of_every_executor(executor: Executor) -> None:
    code = "print(list({str(number) for number in range(20)}), hash('text'))\n"
    circuit = "from qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1)"
    alone = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": "0"}, capture_output=True, text=True, check=True
    )
    for source in (marqov(code + circuit), python(code + circuit)):
        assert executor.run(source).result["stdout"] == alone.stdout
