"""One task of a graph in a child of its own: what it gets, what it returns, and the messages of its mistakes."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import pytest

from ...support.frame_child import FrameChildren, job

pytestmark = pytest.mark.skipif(importlib.util.find_spec("marqov") is None, reason="the SDK needs Python 3.12")

HEAD = "from marqov import task, workflow\nimport numpy as np, collections, math\n"


def graph_of(children: FrameChildren, code: str, name: str = "wf") -> dict[str, Any]:
    """The graph that a script requests."""
    reply = children.start(job(code, graphs="ask"))
    assert "ask" in reply, reply
    graph: dict[str, Any] = reply["ask"]["graph"]
    assert graph["name"] == name
    return graph


def run_task(children: FrameChildren, code: str, node: dict[str, Any], values: dict[str, str]) -> dict[str, Any]:
    """The answer of the child that runs a node of a script's graph."""
    task = {"name": node["func_name"], "function": node["function"], "arguments": node["arguments"], "values": values}
    return children.start(job(code, task=task))


def last(children: FrameChildren, code: str) -> dict[str, Any]:
    """Executes the tasks of a script's graph, each in a child of its own; returns the answer of the last one."""
    values: dict[str, str] = {}
    reply: dict[str, Any] = {}
    for node in graph_of(children, code)["nodes"]:
        reply = run_task(children, code, node, {one: values[one] for one in node["dependencies"]})
        if not reply.get("ok"):
            return reply
        values[node["node_id"]] = reply["result"]
    return reply


def one(body: str, call: str = "f()", more: str = "") -> str:
    """A script whose workflow is one call of the task `f`."""
    return HEAD + more + f"@task\n{body}\n@workflow\ndef wf(): return {call}\n"


def value(reply: dict[str, Any]) -> Any:
    """What a task returned, for people."""
    assert reply.get("ok"), reply
    assert reply["display"] is not None, reply["display_problem"]
    return json.loads(reply["display"])


FUNCTIONS = {
    "defaults and keywords": (one("def f(a, b=2, *, c=3): return [a, b, c]", "f(1, c=5)"), [1, 2, 5]),
    "keyword only": (one("def f(*, a): return a", "f(a=4)"), 4),
    "lambda": (HEAD + "f = task(lambda x: x + 1)\n@workflow\ndef wf(): return f(1)\n", 2),
    "closure": (HEAD + "def make(n):\n    @task\n    def f(x): return x + n\n    return f\nf = make(10)\n@workflow\ndef wf(): return f(1)\n", 11),
    "recursive": (one("def f(n): return 1 if n < 2 else n * fact(n - 1)", "f(5)", "def fact(n): return 1 if n < 2 else n * fact(n - 1)\n"), 120),
    "calls another task plainly": (HEAD + "@task\ndef g(x): return x * 2\n@task\ndef f(x): return g(x) + g(1)\n@workflow\ndef wf(): return f(4)\n", 10),
    "calls itself plainly": (one("def f(n): return 1 if n < 2 else n * f(n - 1)", "f(5)"), 120),
    "async": (one("async def f(x):\n    import asyncio\n    await asyncio.sleep(0)\n    return x + 1", "f(1)"), 2),
    "awaits another async task": (HEAD + "@task\nasync def g(x): return x * 2\n@task\nasync def f(x): return await g(x) + 1\n@workflow\ndef wf(): return f(4)\n", 9),
    "runs a loop of its own": (one("def f():\n    import asyncio\n    async def go(): return 3\n    return asyncio.run(go())"), 3),
    "params and shots": (one("def f(): return [params['shots'], shots, backend]"), [100, 100, "aer-statevector"]),
    "prints": (one("def f():\n    print('hello')\n    return 1"), 1),
    "starts threads that go on": (one("def f():\n    import threading, time\n    threading.Thread(target=lambda: time.sleep(60)).start()\n    return 1"), 1),
    "integer of 4,300 digits": (one("def f(x): return x + 1", "f(10**4299)"), 10**4299 + 1),
    "class of the script": (HEAD + "class Box:\n    def __init__(self, v): self.v = v\n@task\ndef g(): return Box(3)\n@task\ndef f(b): return [b.v, isinstance(b, Box)]\n@workflow\ndef wf(): return f(g())\n", [3, True]),
    "classes of two tasks": (HEAD + "@task\ndef g(n):\n    class Box:\n        v = n\n    return Box()\n@task\ndef f(a, b): return [a.v, b.v]\n@workflow\ndef wf(): return f(g(1), g(2))\n", [1, 2]),
    "named arguments in containers": (HEAD + "@task\ndef g(): return (1, 2)\n@task\ndef f(x, *, y): return [x['a'][0], y]\n@workflow\ndef wf():\n    p = g()\n    return f({'a': [p]}, y=[p, p])\n", [[1, 2], [[1, 2], [1, 2]]]),
}  # fmt: skip


@pytest.mark.parametrize(("code", "expected"), FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_a_task_in_its_own_child_returns_what_its_function_returns(
    children: FrameChildren, code: str, expected: Any
) -> None:
    assert value(last(children, code)) == expected


VALUES = {
    "integer beyond a double": "2**53 + 1",
    "integer of 20,000 digits": "10**20000",
    "not a number in a list": "[1.5, float('nan')]",
    "infinity": "float('-inf')",
    "text with a NUL": "'a\\0b'",
    "lone surrogate in a key": "{'\\ud800': 1}",
    "keys that are no texts": "{1: 'a', (2, 3): 'b', None: 0}",
    "set": "{1, 2}",
    "frozen set in a tuple": "[frozenset({1})]",
    "complex": "1j",
    "bytes": "b'x'",
    "array": "np.arange(6).reshape(2, 3)",
    "complex array": "np.array([1j, 2])",
    "deep list": "deep(200)",
    "named tuple": "Point(1, 2)",
    "reserved keys": "{'__proxy__': True, 'node_id': 'task_0001'}",
    "reserved key of pickles": "{'__cloudpickle__': True, 'data': 'gAR9lC4='}",
    "nothing": "None",
    "true among numbers": "[True, 1, 1.0, 0, False]",
}


@pytest.mark.parametrize("made", VALUES.values(), ids=VALUES.keys())
def test_a_result_reaches_the_next_task_exactly(children: FrameChildren, made: str) -> None:
    code = HEAD + (
        "Point = collections.namedtuple('Point', 'x y')\n"
        "def deep(n, x=1):\n    for _ in range(n): x = [x]\n    return x\n"
        "def said(x): return hex(x) if type(x) is int else repr(x)\n"
        f"@task\ndef make(): return {made}\n"
        "@task\ndef seen(x, y): return [said(x), said(y['k'][0]), x is not y['k'][0] or isinstance(x, (int, float))]\n"
        f"@task\ndef expect(a): return [a, said({made})]\n"
        "@workflow\ndef wf():\n    v = make()\n    return expect(seen(v, {'k': [v]}))\n"
    )
    (first, second, _), expected = value(last(children, code))
    assert first == second == expected


def test_a_circuit_of_the_sdk_goes_from_task_to_task(children: FrameChildren) -> None:
    code = (
        HEAD + "from marqov import Circuit, get_device\n"
        "@task\ndef bell(): return Circuit().h(0).cnot(0, 1)\n"
        "@task\ndef counts(c): return get_device(params).run(c, 64)\n@workflow\ndef wf(): return counts(bell())\n"
    )
    counted = value(last(children, code))
    assert sum(counted.values()) == 64
    assert set(counted) <= {"00", "11"}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("def f(): return {1, 2}", "f() returned: set cannot be part of a result"),
        ("def f(): return [float('nan')]", "f() returned[0]: nan is not a JSON number"),
        ("def f(): return 10**4300", "an integer of more than 4300 digits"),
        ("def f():\n    x = []\n    for _ in range(100): x = [x]\n    return x", "nested deeper than 24 levels"),
        ("def f(): return 'x' * 4_000_000", "f() returned a value of 3.8 MiB, too large to be shown"),
    ],
)
def test_a_value_that_cannot_be_displayed_is_kept_with_the_reason(
    children: FrameChildren, body: str, problem: str
) -> None:
    reply = last(children, one(body))
    assert reply["ok"]
    assert reply["display"] is None
    assert problem in reply["display_problem"]


FAILURES = {
    "exception": ("def f():\n    return 1 / 0", "ZeroDivisionError: division by zero", 6),
    "deeper exception": ("def f(): return g()", "line 3, in g: def g(): raise ValueError('no')", 3),
    "message that raises": ("def f():\n    class E(Exception):\n        def __str__(self): raise ValueError\n    raise E", "E: (its message cannot be shown)", 8),
    "message that exits": ("def f():\n    class E(Exception):\n        def __str__(self): raise SystemExit(0)\n    raise E", "E: (its message cannot be shown)", 8),
    "exit": ("def f():\n    raise SystemExit(3)", "SystemExit: the code exited with 3", 6),
    "exit without a result": ("def f():\n    exit()", "the task ended with SystemExit before it returned", 6),
    "keyboard interrupt": ("def f():\n    raise KeyboardInterrupt", "KeyboardInterrupt", 6),
    "list nested 100,000 deep": ("def f():\n    x = []\n    for _ in range(100000): x = [x]\n    return x", "cannot be pickled: PicklingError: Could not pickle object as excessively deep recursion required", None),
    "generator": ("def f():\n    yield 1", "f() returned what cannot be kept: value of type builtins.generator", None),
    "lock": ("def f():\n    import threading\n    return [threading.Lock()]", "cannot be serialized with cloudpickle", None),
    "17 MiB": ("def f(): return 'x' * 17 * 1024 * 1024", "f() returned a value of 17.0 MiB when it is kept, more than the limit of 16 MiB", None),
    "pickling that fails": ("def f():\n    class A:\n        def __reduce__(self): raise ValueError('no')\n    return A()", "no", None),
    "reduction that is none": ("def f():\n    class A:\n        def __reduce__(self): return 7\n    return A()", "cannot be serialized", None),
    "another backend": ("def f():\n    from marqov import get_device\n    return repr(get_device({'backend': 'ionq-aria-1'}))", "get_device: the backend 'ionq-aria-1' is not the job's, which is 'aer-statevector'", 7),
}  # fmt: skip


@pytest.mark.parametrize(("body", "said", "line"), FAILURES.values(), ids=FAILURES.keys())
def test_a_failing_task_reports_the_reason_and_the_line_of_the_script(
    children: FrameChildren, body: str, said: str, line: int | None
) -> None:
    reply = last(children, one(body, more="def g(): raise ValueError('no')\n"))
    assert reply["ok"] is False
    assert said in reply["message"]
    if line is not None:
        assert reply["line"] == line
    assert "qjs_executor" not in reply["message"]
    assert "site-packages" not in reply["message"]


def test_a_result_at_the_limit_is_kept_whole(children: FrameChildren) -> None:
    reply = last(children, one("def f(): return 'x' * (16 * 1024 * 1024 - 2)"))
    assert len(reply["result"]) == 16 * 1024 * 1024
    assert set(reply["result"][1:-1]) == {"x"}


def test_the_source_of_a_task_is_not_run(children: FrameChildren) -> None:
    code = one("def f(): return 1")
    node = graph_of(children, code)["nodes"][0]
    reply = run_task(children, "raise SystemExit(9)\nfrom marqov import task\n", node, {})
    assert value(reply) == 1


def test_a_task_without_the_results_that_it_takes_is_refused(children: FrameChildren) -> None:
    code = HEAD + "@task\ndef f(x=0): return x\n@workflow\ndef wf(): return f(f())\n"
    node = graph_of(children, code)["nodes"][1]
    assert run_task(children, code, node, {})["message"] == "the result of task_0001 is needed and was not given"


@pytest.mark.parametrize("how", ["os._exit(7)", "os.kill(os.getpid(), 9)"])
def test_a_task_that_exits_its_child_gives_no_result(children: FrameChildren, how: str) -> None:
    reply = last(children, one(f"def f():\n    import os\n    {how}"))
    assert reply in ({"exit": 7}, {"exit": -9})


def test_a_task_that_closes_every_descriptor_gives_no_result(children: FrameChildren) -> None:
    reply = last(children, one("def f():\n    import os\n    os.closerange(0, 100)\n    return 1"))
    assert reply == {"exit": 1}


def test_tasks_draw_their_own_random_numbers_unless_their_seeds_are_the_same(children: FrameChildren) -> None:
    code = one("def f():\n    import random\n    return [random.random(), np.random.rand()]")
    node = graph_of(children, code)["nodes"][0]
    task = {"name": "f", "function": node["function"], "arguments": node["arguments"], "values": {}}
    seeded = [children.start(job(code, circuits="ask", seed=seed, task=task))["result"] for seed in (1, 1, 2)]
    free = [children.start(job(code, task=task))["result"] for _ in range(2)]
    assert seeded[0] == seeded[1]
    assert len({seeded[0], seeded[2], *free}) == 4


def test_a_task_cannot_dispatch_a_workflow(children: FrameChildren) -> None:
    code = HEAD + (
        "@task\ndef g(): return 1\n@workflow\ndef inner(): return g()\n"
        "@task\ndef f(): return repr(inner())\n@workflow\ndef wf(): return f()\ndef main(client, params): pass\n"
    )
    reply = children.start(job(code, graphs="ask", entry={"model": "native_workflow", "entrypoint": "wf", "input": json.dumps({"entrypoint": "wf", "args": [], "kwargs": {}})}))  # fmt: skip
    node = reply["ask"]["graph"]["nodes"][0]
    assert value(run_task(children, code, node, {})) == "WorkflowDispatch(inner, nodes=1, parallel_groups=1)"


def test_without_the_sdk_a_task_is_refused_by_name(children: FrameChildren) -> None:
    code = one("def f(): return 1")
    node = graph_of(children, code)["nodes"][0]
    task = {"name": "f", "function": node["function"], "arguments": node["arguments"], "values": {}}
    reply = children.start(job(code, task=task), without="marqov")
    assert reply["code"] == "unsupported_operation"
    assert "need the package 'marqov'" in reply["message"]
