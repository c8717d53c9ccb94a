"""Runs that make requests, and the answers that a worker would give them."""

from __future__ import annotations

from typing import Any

from qjs_executor.child.asks import circuit_digest

from .executor import Answer, Executor

ASKING: dict[str, Any] = {"graphs": "ask", "circuits": "ask", "script": {"seed": 1, "now": 1.7e9}}
UNPARKED = "an execution was not parked"
"""What the executor logs of one that it had no time to stop. It loses nothing by that, and is begun again."""
ADD = "from marqov import task, workflow\n@task\ndef add(a, b): return a + b\n@workflow\ndef wf(n=1):\n    return {'sum': add(add(n, 1), 10), 'n': 3}\n"
TWICE = ADD + (
    "async def main(client, params):\n    print('begins')\n    one = await wf(1).run(client)\n    print('goes on')\n"
    "    two = await wf(one['sum']).run(client)\n    return {'one': one, 'two': two}\n"
)
FRAMES = (
    "import os, json, sys\ndef say(message):\n    body = json.dumps(message).encode()\n"
    "    data = len(body).to_bytes(4, 'little') + body\n    while data: data = data[os.write(4, data):]\n"
    "def hear():\n    size = int.from_bytes(os.read(3, 4), 'little')\n    body = b''\n"
    "    while len(body) < size: body += os.read(3, size - len(body))\n    return json.loads(body)\n"
)
"""For a source that writes to the pipes of its child itself."""


CIRCUIT = "OPENQASM 3.0;"
CIRCUIT_DIGEST = circuit_digest(CIRCUIT, 10)


def marqov(code: str) -> dict[str, str]:
    """A source in Python with marqov."""
    return {"kind": "code", "framework": "marqov", "code": code}


def node(number: int = 1, **fields: Any) -> dict[str, Any]:
    """A task as a child sends it."""
    return {
        "node_id": f"task_{number:04}",
        "name": "f",
        "func_name": "f",
        "function": "Zg==",
        "arguments": '{"args":[],"kwargs":{}}',
        "retries": 0,
        "timeout_seconds": 300.0,
        "dependencies": [],
        **fields,
    }


def graph_of(*nodes: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A graph of tasks that do not depend on each other."""
    ids = [one["node_id"] for one in nodes]
    return {"name": "wf", "nodes": list(nodes), "levels": [ids], "output": "null", "returns": [], "dot": "", **fields}


def graph_ask(graph: Any = None, **fields: Any) -> dict[str, Any]:
    """A graph request as a child sends it."""
    graph = graph_of(node()) if graph is None else graph
    return {"kind": "graph", "number": 1, "digest": "0" * 64, "final": False, "graph": graph, **fields}


def circuit_ask(**fields: Any) -> dict[str, Any]:
    """A circuit request as a child sends it."""
    return {
        "kind": "circuit",
        "number": 1,
        "digest": CIRCUIT_DIGEST,
        "final": False,
        "shots": 10,
        "openqasm3": CIRCUIT,
        "facts": {"register_names": None, "observables": None, "warnings": []},
        "registers": [{"name": "c", "size": 1}],
        **fields,
    }


def values_of(executor: Executor, code: str, ask: dict[str, Any]) -> dict[str, str]:
    """Executes the tasks of a graph, each in a child of its own; returns their values by id."""
    values: dict[str, str] = {}
    for task in ask["graph"]["nodes"]:
        wanted = {
            "function": task["function"],
            "name": task["func_name"],
            "arguments": task["arguments"],
            "values": {one: values[one] for one in task["dependencies"]},
        }
        ended = executor.run(marqov(code), task=wanted).outcome
        assert ended["status"] == "completed", ended
        values[task["node_id"]] = ended["result"]
    return values


def answer_to(executor: Executor, code: str, ask: dict[str, Any]) -> dict[str, Any]:
    """The answer to a graph whose tasks have been executed."""
    values = values_of(executor, code, ask)
    return {
        "digest": ask["digest"],
        "values": {one: values[one] for one in ask["graph"]["returns"]},
        "metadata": None,
    }


def begin(executor: Executor, code: str, run_id: str, **fields: Any) -> Answer:
    """Starts a run that makes a request; again if the executor says that it could not stop its processes in time."""
    for _ in range(20):
        unstopped = executor.log.count(UNPARKED)
        answer = executor.run(marqov(code), run_id=run_id, **{**ASKING, **fields})
        outcome = answer.lines[-1].get("outcome", {})
        if outcome.get("parked") is not False or "resume" in fields or executor.log.count(UNPARKED) == unstopped:
            break
    if outcome.get("parked"):
        _waiting[run_id] = outcome["ask"]
    return answer


_waiting: dict[str, dict[str, Any]] = {}


def end_waiting(executor: Executor) -> None:
    """Ends the runs that a test has left with a question."""
    while _waiting:
        run_id, ask = _waiting.popitem()
        reply: dict[str, Any] = {"error": "over"} if ask["kind"] == "circuit" else {"values": {}, "metadata": None}
        resume_run(executor, "", run_id, {"digest": ask["digest"], **reply}, limits={"wall_seconds": 0.1})


def resume_run(executor: Executor, code: str, run_id: str, answer: dict[str, Any], **fields: Any) -> Answer:
    """Brings a parked run its answer."""
    return begin(executor, code or " ", run_id, resume={"run_id": run_id}, answers=[answer], **fields)


def asked(answer: Answer) -> dict[str, Any]:
    """The request of a run."""
    assert answer.outcome["status"] == "asked", answer.outcome
    ask: dict[str, Any] = answer.outcome["ask"]
    return ask


ASK = f"say({{'ask': {circuit_ask()!r}}})\n"
TELL = "heard = hear()['answer']\nsay({'ok': False, 'code': 'execution_error', 'message': 'heard ' + heard['counts']})"
ONCE = FRAMES + ASK + TELL
"""Requests one circuit and returns the counts that it received."""
ANSWER = {"digest": CIRCUIT_DIGEST, "counts": '{"1": 10}'}
SPINNING = (
    FRAMES + "import threading, signal\nheard, told = os.pipe()\nfor _ in range(2):\n    if os.fork() == 0:\n"
    "        if os.fork() == 0: os.setsid()\n        os.write(told, b'.')\n        while True: pass\n"
    "def spin():\n    while True: pass\nthreading.Thread(target=spin, daemon=True).start()\n"
    # One that is stopped before it has forked never will.
    "for _ in range(4): os.read(heard, 1)\n" + ASK + TELL
)
"""The same, with four processes and a thread that never rest."""
