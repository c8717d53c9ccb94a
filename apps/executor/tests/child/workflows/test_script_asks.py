"""What a script requests from the service, and how it resumes with the answers, from its start too."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import pytest

from ...support.frame_child import FrameChildren, answered, job
from .test_capture import HEAD
from .test_graphs_here import NATIVE, WF, main, sent
from .test_task_runs import one

pytestmark = pytest.mark.skipif(importlib.util.find_spec("marqov") is None, reason="the SDK needs Python 3.12")

DEVICE = HEAD + "from marqov import Circuit, get_device\nbell = Circuit().h(0).cnot(0, 1)\n"
BELL = (
    'OPENQASM 3.0;\ninclude "stdgates.inc";\nbit[2] meas;\nqubit[2] q;\nh q[0];\ncx q[0], q[1];\n'
    "meas[0] = measure q[0];\nmeas[1] = measure q[1];\n"
)
LOOP = main("x = 1\nfor _ in range(3): x = (await wf(x).run(client))['sum']\nreturn x")


def asked(reply: dict[str, Any]) -> dict[str, Any]:
    """The request in a child's message."""
    assert "ask" in reply, reply
    ask: dict[str, Any] = reply["ask"]
    return ask


def test_a_workflow_is_requested_as_the_end_of_the_run(children: FrameChildren) -> None:
    ask = asked(children.start(job(WF, params={"a": 10**30}, graphs="ask")))
    graph = ask["graph"]
    assert (ask["kind"], ask["number"], ask["final"]) == ("graph", 1, True)
    assert [sorted(node) for node in graph["nodes"]] == [
        ["arguments", "dependencies", "func_name", "function", "name", "node_id", "retries", "timeout_seconds"]
    ] * 2
    assert json.loads(graph["nodes"][0]["arguments"]) == {"args": [10**30, 2], "kwargs": {}}
    assert graph["returns"] == ["task_0001", "task_0002"]
    assert graph["levels"] == [["task_0001"], ["task_0002"]]
    reply = children.start(job(WF, finish={"name": "wf", "output": graph["output"], "values": {"task_0001": "3", "task_0002": str(10**4000)}}))  # fmt: skip
    assert reply["value"] == {"sum": 3, "more": [10**4000, "constant"]}


def test_returned_results_are_listed_in_the_order_of_their_places(children: FrameChildren) -> None:
    code = HEAD + (
        "@task\ndef f(x): return x\n@workflow\ndef wf():\n    a, b, c = f(1), f(2), f(3)\n"
        "    return {'z': c, 'y': [b, {'x': c}, a]}\n"
    )
    graph = asked(children.start(job(code, graphs="ask")))["graph"]
    assert graph["returns"] == ["task_0003", "task_0002", "task_0001"]


def test_a_native_submission_is_requested_under_its_name(children: FrameChildren) -> None:
    ask = asked(children.start(job(NATIVE, graphs="ask", entry=sent("single_task", "add", args=[1], kwargs={"y": 2}))))
    assert (ask["final"], ask["graph"]["name"], ask["graph"]["returns"]) == (True, "add", ["task_0001"])
    assert json.loads(ask["graph"]["output"]) == {"__proxy__": True, "node_id": "task_0001"}


def test_pickled_results_are_opened_where_the_result_is_made(children: FrameChildren) -> None:
    pickled = children.start(job(one("def f(): return 1"), graphs="ask"))
    assert pickled["ask"]["final"]
    code = one("def f(): return np.float64(0.5) + np.zeros(2)")
    graph = asked(children.start(job(code, graphs="ask")))["graph"]
    node = graph["nodes"][0]
    task = {"name": "f", "function": node["function"], "arguments": node["arguments"], "values": {}}
    value = children.start(job(code, task=task))["result"]
    assert "__cloudpickle__" in value
    finish = {"name": "wf", "output": graph["output"], "values": {"task_0001": value}}
    assert children.start(job(code, finish=finish))["value"] == [0.5, 0.5]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("{1, 2}", "wf() returned: set cannot be part of a result"),
        ("10**4300", "wf() returned: an integer of more than 4300 digits"),
        ("{'a': [print]}", "wf() returned['a'][0]: builtin_function_or_method cannot be part of a result"),
    ],
)
def test_a_result_that_cannot_be_plain_names_the_place_and_the_type(
    children: FrameChildren, made: str, said: str
) -> None:
    code = one(f"def f(): return {made}")
    graph = asked(children.start(job(code, graphs="ask")))["graph"]
    node = graph["nodes"][0]
    task = {"name": "f", "function": node["function"], "arguments": node["arguments"], "values": {}}
    value = children.start(job(code, task=task))["result"]
    reply = children.start(job(code, finish={"name": "wf", "output": graph["output"], "values": {"task_0001": value}}))
    assert said in reply["message"]


def test_a_main_resumes_with_each_answer(children: FrameChildren) -> None:
    reply = children.start(job(LOOP, graphs="ask"))
    for number in (1, 2, 3):
        ask = asked(reply)
        assert (ask["number"], ask["final"]) == (number, False)
        x = json.loads(ask["graph"]["nodes"][0]["arguments"])["args"][0]
        reply = children.answer(ask, values={"task_0001": x + 2, "task_0002": x + 12})
    assert reply["value"] == 7
    assert "workflow_metadata" not in reply


def test_a_repeated_main_makes_the_same_requests_and_resumes_where_it_was(children: FrameChildren) -> None:
    answers: list[dict[str, Any]] = []
    for number in (1, 2, 3):
        ask = asked(children.start(job(LOOP, graphs="ask", answers=answers)))
        children.drop()
        assert ask["number"] == number
        x = json.loads(ask["graph"]["nodes"][0]["arguments"])["args"][0]
        answers.append(answered(ask, values={"task_0001": x + 2, "task_0002": 0}))
    assert children.start(job(LOOP, graphs="ask", answers=answers))["value"] == 7


def test_a_graph_without_tasks_is_answered_at_once(children: FrameChildren) -> None:
    code = main("return await empty().run(client)", more=HEAD + "@workflow\ndef empty(): return [1, {'a': None}]\n")
    assert children.start(job(code, graphs="ask"))["value"] == [1, {"a": None}]
    alone = HEAD + "@workflow\ndef wf(): return [1, {'a': None}]\n"
    assert children.start(job(alone, graphs="ask"))["value"] == [1, {"a": None}]
    native = sent("native_workflow", "wf", args=[], kwargs={})
    assert asked(children.start(job(alone, graphs="ask", entry=native)))["graph"]["nodes"] == []


def test_metadata_of_the_service_is_what_run_with_ids_gives(children: FrameChildren) -> None:
    code = main("r, _, _ = await wf(1).run_with_ids(client)\nreturn r")
    ask = asked(children.start(job(code, graphs="ask")))
    children.drop()
    answer = {**answered(ask, values={"task_0001": 3, "task_0002": 13}), "metadata": '{"total_tasks": 2}'}
    reply = children.start(job(code, graphs="ask", answers=[answer]))
    assert reply["value"] == {"result": {"sum": 3, "more": [13, "constant"]}, "_workflow_metadata": {"total_tasks": 2}}


CIRCUITS = {
    "sdk": "c = bell",
    "qiskit": "from qiskit import QuantumCircuit\nc = QuantumCircuit(2)\nc.h(0)\nc.cx(0, 1)",
    "cirq": "import cirq\na, b = cirq.LineQubit.range(2)\nc = cirq.Circuit(cirq.H(a), cirq.CNOT(a, b), cirq.measure(a, b, key='meas'))",
    "braket": "from braket.circuits import Circuit as B\nc = B().h(0).cnot(0, 1)",
    "pennylane": "import pennylane as qml\n@qml.qnode(qml.device('default.qubit', wires=2))\ndef c():\n    qml.Hadamard(0)\n    qml.CNOT([0, 1])\n    return qml.counts()",
    "openqasm": f"c = {BELL!r}",
}  # fmt: skip


@pytest.mark.parametrize("make", CIRCUITS.values(), ids=CIRCUITS.keys())
def test_a_circuit_of_any_framework_is_requested_in_canonical_form(children: FrameChildren, make: str) -> None:
    ask = asked(children.start(job(DEVICE + make + "\ncounts = device.run(c, 50)\nassert counts == {'00': 20, '11': 30}\n", circuits="ask")))  # fmt: skip
    assert (ask["kind"], ask["shots"], ask["final"]) == ("circuit", 50, False)
    gates = [line for line in ask["openqasm3"].splitlines() if line.startswith(("h ", "cx "))]
    assert gates == ["h q[0];", "cx q[0], q[1];"]
    assert ask["openqasm3"].count("measure") == 2
    assert sum(register["size"] for register in ask["registers"]) == 2
    reply = children.answer(ask, counts={"00": 20, "11": 30})
    assert reply["counts"] == {"00": 20, "11": 30}
    assert (reply["count_source"], reply["shots"]) == ("provider_counts", 50)
    assert reply["registers"] == ask["registers"]
    assert reply["circuit_info"]["gate_counts"]["cx"] == 1


LEFT = {
    "at module level": (DEVICE + "circuit = bell\n", "marqov"),
    "returned by main": (DEVICE + "def main(): return bell\n", "marqov"),
    "in OpenQASM": (BELL, "openqasm"),
}


@pytest.mark.parametrize(("code", "framework"), LEFT.values(), ids=LEFT.keys())
def test_a_circuit_that_the_code_leaves_is_requested_and_its_counts_are_the_result(
    children: FrameChildren, code: str, framework: str
) -> None:
    ask = asked(children.start(job(code, framework=framework, circuits="ask")))
    assert (ask["openqasm3"], ask["shots"]) == (BELL, 100)
    reply = children.answer(ask, counts={"00": 90, "11": 8})
    assert (reply["counts"], reply["count_source"]) == ({"00": 90, "11": 8}, "provider_counts")
    reply = children.start(job(code, framework=framework, circuits="ask", answers=[answered(ask, error="no calibration")]))  # fmt: skip
    # Where code left the circuit, an exception is raised for it.
    assert reply["message"] == ("no calibration" if framework == "openqasm" else "RuntimeError: no calibration")


def test_expectation_values_follow_from_the_received_counts(children: FrameChildren) -> None:
    code = (
        "import pennylane as qml\n@qml.qnode(qml.device('default.qubit', wires=1))\ndef circuit():\n"
        "    qml.Hadamard(0)\n    return qml.expval(qml.Z(0))\n"
    )
    ask = asked(children.start(job(code, framework="pennylane", circuits="ask")))
    assert ask["facts"]["observables"]
    reply = children.answer(ask, counts={"0": 75, "1": 25})
    assert [item["value"] for item in reply["expectation_values"]] == [0.5]


def test_a_failed_circuit_is_an_exception_that_the_script_may_catch(children: FrameChildren) -> None:
    code = DEVICE + (
        "def main():\n    try: return device.run(bell)\n    except RuntimeError as error: return str(error)\n"
    )
    ask = asked(children.start(job(code, circuits="ask")))
    assert children.answer(ask, error="the device is away")["value"] == "the device is away"


def test_a_task_requests_its_circuits(children: FrameChildren) -> None:
    code = DEVICE + (
        "@task\ndef f(c, n): return [get_device(params).run(c, n), device.run(c, n)]\n@workflow\ndef wf(): return f(bell, 30)\n"
    )
    node = asked(children.start(job(code, graphs="ask", circuits="ask")))["graph"]["nodes"][0]
    task = {"name": "f", "function": node["function"], "arguments": node["arguments"], "values": {}}
    ask = asked(children.start(job(code, circuits="ask", task=task)))
    again = asked(children.answer(ask, counts={"00": 30}))
    assert again["number"] == 2
    reply = children.answer(again, counts={"11": 29})
    assert json.loads(reply["result"]) == [{"00": 30}, {"11": 29}]


def test_the_time_limit_of_a_task_pauses_while_it_waits_for_a_circuit(children: FrameChildren) -> None:
    code = DEVICE + (
        "import time\n@task(timeout=4)\ndef f(): return device.run(bell, 10)\n@workflow\ndef wf(): return f()\n"
    )
    ask = asked(children.start(job(code, circuits="ask")))
    children.wait(4.5)
    assert children.answer(ask, counts={"00": 10})["value"] == {"00": 10}


REFUSED = {
    "in the body of a workflow": (DEVICE + "@workflow\ndef wf(): return device.run(bell)\n", "device.run in the body of a workflow", 5),
    "unbound parameter": ("from qiskit import QuantumCircuit\nfrom qiskit.circuit import Parameter\nc = QuantumCircuit(1)\nc.rx(Parameter('t'), 0)\ndevice.run(c)\n", "unbound parameters: t (operation 'rx' on qubit 0)", 5),
    "no qubits": ("from qiskit import QuantumCircuit\ndevice.run(QuantumCircuit(0))\n", "the circuit has no qubits", 2),
    "too wide": ("from qiskit import QuantumCircuit\nc = QuantumCircuit(29)\nc.h(0)\ncircuit = c\n", "circuit needs 29 qubits, aer-statevector has 28", 4),
    "no circuit": ("device.run(5)\n", "device.run: takes a circuit (got int)", 1),
    "shots out of range": (DEVICE + "device.run(bell, 0)\n", "shots must be an integer from 1", 4),
    "another backend": (DEVICE + "get_device({**params, 'backend': 'ibm-torino'}).run(bell)\n", "the backend 'ibm-torino' is not the job's", 4),
    "text of more than a mebibyte": ("from qiskit import QuantumCircuit\nc = QuantumCircuit(1)\nfor i in range(60000): c.rx(0.1234567 * i, 0)\ndevice.run(c)\n", "characters of OpenQASM 3; at most 1,048,576 are sent", 4),
}  # fmt: skip


@pytest.mark.parametrize(("code", "said", "line"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_requested_is_refused_with_its_line(
    children: FrameChildren, code: str, said: str, line: int
) -> None:
    reply = children.start(job(code, framework="qiskit", circuits="ask"))
    assert reply.get("ok") is False, reply
    assert said in reply["message"]
    assert reply["line"] == line


def test_a_repeated_script_on_another_path_is_refused_with_the_request_that_differs(children: FrameChildren) -> None:
    asks = []
    reply = children.start(job(LOOP, graphs="ask"))
    for _ in range(2):
        asks.append(asked(reply))
        reply = children.answer(asks[-1], values={"task_0001": len(asks) * 10, "task_0002": 0})
    children.drop()
    first = answered(asks[0], values={"task_0001": 77, "task_0002": 0})
    second = answered(asks[1], values={"task_0001": 20, "task_0002": 0})
    reply = children.start(job(LOOP, graphs="ask", answers=[first, second]))
    assert reply["message"].startswith(
        "the script took another path when it was repeated: its 2nd request was another graph before and is the"
        " workflow 'wf' with 2 tasks now; randomness and clock are fixed"
    )
    assert reply["line"] == 12
    reply = children.start(job(LOOP, graphs="ask", answers=[{"digest": asks[0]["digest"], "counts": '{"0": 1}'}]))
    assert "its 1st request was a circuit before and is the workflow 'wf'" in reply["message"]


def test_a_script_that_swallows_its_mismatch_still_fails(children: FrameChildren) -> None:
    code = DEVICE + "def main():\n    try: return device.run(bell)\n    except BaseException: return {'00': 100}\n"
    reply = children.start(job(code, circuits="ask", answers=[{"digest": "0" * 64, "counts": '{"00": 1}'}]))
    assert reply["ok"] is False
    assert "another path" in reply["message"]


def test_a_script_that_closes_its_channel_fails(children: FrameChildren) -> None:
    code = DEVICE + "import os\nos.closerange(3, 100)\ndevice.run(bell)\n"
    assert children.start(job(code, circuits="ask")) == {"exit": 1}


def test_a_script_that_makes_endless_requests_is_stopped(children: FrameChildren) -> None:
    code = (
        HEAD
        + "@task\ndef f(): return 1\n@workflow\ndef wf(): return f()\n"
        + (
            "async def main(client, params):\n    while True:\n        try: await wf().run(client)\n"
            "        except Exception: pass\n"
        )
    )
    ask = asked(children.start(job(code, graphs="ask")))
    reply = children.answer(ask, values={"task_0001": 1})
    answers = [answered(ask, values={"task_0001": 1})] * 1000
    children.drop()
    assert reply["ask"]["number"] == 2
    reply = children.start(job(code, graphs="ask", answers=answers))
    assert reply["message"] == "the script requests more than 1,000 circuits and workflows, the limit of a run"
    assert reply["line"] == 8
