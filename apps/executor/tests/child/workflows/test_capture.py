"""What a workflow's graph is: the real SDK's own recording, exact, in a fixed order, or a refusal with its place."""

from __future__ import annotations

import asyncio
import base64
import importlib.util
import inspect
import json
import pickle
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from qjs_executor.child.device import Device
from qjs_executor.child.refusals import JobError
from qjs_executor.child.workflows import exact_json, graph
from qjs_executor.child.workflows.capture import capture
from qjs_executor.child.workflows.task_device import provide_device

from ...support.sdk import sdk_as_it_is

pytestmark = pytest.mark.skipif(importlib.util.find_spec("marqov") is None, reason="the SDK needs Python 3.12")

HEAD = "from marqov import task, workflow\n"
ADD = HEAD + "@task\ndef add(x, y): return x + y\n@task\ndef echo(x): return x\n"


@pytest.fixture(autouse=True)
def sdk() -> Iterator[None]:
    """Each test finds the SDK as it is."""
    with sdk_as_it_is():
        yield


def device(name: str = "local") -> Device:
    """A device that nothing is run on."""
    return Device(name, 1, lambda _, shots: {"counts": {"0": shots}})


def captured(
    code: str, entrypoint: str | None = None, arguments: dict[str, Any] | None = None, **params: Any
) -> dict[str, Any]:
    """The graph of a script; it has to survive the JSON of a child's answer."""
    answer = capture(code, {"shots": 1, "backend": "local", **params}, device(), entrypoint, arguments)
    reply: dict[str, Any] = json.loads(json.dumps(answer, allow_nan=False))
    assert reply == answer
    return reply


def refused(
    code: str, entrypoint: str | None = None, arguments: dict[str, Any] | None = None, **params: Any
) -> JobError:
    """The error of a script that has no graph."""
    with pytest.raises(JobError) as caught:
        captured(code, entrypoint, arguments, **params)
    return caught.value


def run(graph_told: dict[str, Any]) -> Any:
    """Runs a graph as the SDK's task child does: functions unpickled, arguments decoded by the SDK itself."""
    from marqov.workflows._task_child import _deserialize_value, _serialize_value

    results: dict[str, Any] = {}

    def resolved(value: Any) -> Any:
        if isinstance(value, dict):
            if value.get("__proxy__"):
                return results[value["node_id"]]
            return {key: resolved(item) for key, item in value.items()}
        return [resolved(item) for item in value] if isinstance(value, list) else value

    nodes = {node["node_id"]: node for node in graph_told["nodes"]}
    for level in graph_told["levels"]:
        for node_id in level:
            node = nodes[node_id]
            function = pickle.loads(base64.b64decode(node["function"]))
            args = [_deserialize_value(resolved(item)) for item in node["args"]]
            kwargs = {key: _deserialize_value(resolved(item)) for key, item in node["kwargs"].items()}
            value = function(*args, **kwargs)
            results[node_id] = _serialize_value(asyncio.run(value) if inspect.iscoroutine(value) else value)
    return _deserialize_value(resolved(graph_told["output"]))


@pytest.fixture
def sdk_input() -> Callable[[str], dict[str, Any]]:
    """What the SDK itself would send for a script's workflow `wf` without parameters."""

    def build(code: str) -> dict[str, Any]:
        namespace: dict[str, Any] = {"__name__": "__main__"}
        exec(code, namespace)
        dispatch = namespace["wf"]()
        return {"input": dispatch._prepare_workflow_input(), "dot": dispatch.visualize()}

    return build


DIAMOND = (
    ADD + "@workflow\ndef wf():\n    a = add(1, 2)\n    b = add(a, 10)\n    c = add(a, 20)\n    return add(b, y=c)\n"
)
SHAPES = {
    "bell pair": (
        HEAD + "from marqov import Circuit, get_device\n"
        "@task\ndef prepare(): return Circuit().h(0).cnot(0, 1)\n"
        "@task\ndef width(c): return c.num_qubits\n"
        "@workflow\ndef wf(): return width(prepare())\n",
        2,
    ),
    "diamond": (DIAMOND, 36),
    "fan-out and fan-in": (
        ADD + "@task\ndef total(xs): return sum(xs)\n@workflow\ndef wf(): return total([add(i, 1) for i in range(5)])\n",
        15,
    ),
    "parameter loop": (ADD + "@workflow\ndef wf():\n    x = 0\n    for i in range(4): x = add(x, i)\n    return x\n", 6),
    "nested containers": (
        ADD + "@workflow\ndef wf():\n    a, b = add(1, 1), add(2, 2)\n"
        "    return {'sum': echo({'in': [a, (b, 5)]}), 'first': [a, {'b': b}], 'constant': (1, 'x', None, 2.5)}\n",
        {"sum": {"in": [2, [4, 5]]}, "first": [2, {"b": 4}], "constant": [1, "x", None, 2.5]},
    ),
    "constants only": (HEAD + "@workflow\ndef wf(): return {'a': [1, True], 'b': 10**40}\n", {"a": [1, True], "b": 10**40}),
    "async task": (HEAD + "@task\nasync def f(x): return x + 1\n@workflow\ndef wf(): return f(1)\n", 2),
    "task with a global and a helper": (
        HEAD + "K = 7\ndef helper(x): return x * K\n@task\ndef f(x): return helper(x)\n@workflow\ndef wf(): return f(3)\n",
        21,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("code", "expected"), SHAPES.values(), ids=SHAPES.keys())
def test_an_executed_graph_returns_the_workflows_result_in_its_own_shape(code: str, expected: Any) -> None:
    assert run(captured(code)) == expected


@pytest.mark.parametrize("name", ["bell pair", "diamond", "fan-out and fan-in", "parameter loop", "nested containers"])
def test_nodes_are_those_that_the_sdk_sends_under_ids_in_the_order_of_recording(
    name: str, sdk_input: Callable[[str], dict[str, Any]]
) -> None:
    code = SHAPES[name][0]
    sdk, dot = sdk_input(code).values()
    ids = {node_id: f"task_{number:04}" for number, node_id in enumerate(sdk["nodes"], start=1)}
    text = json.dumps(sdk)
    for node_id, own in ids.items():
        text, dot = text.replace(node_id, own), dot.replace(node_id, own)
    sdk = json.loads(text)
    reply = captured(code)
    assert [node["node_id"] for node in reply["nodes"]] == list(ids.values())
    for node in reply["nodes"]:
        theirs = sdk["nodes"][node["node_id"]]
        del theirs["func_ref"]
        assert {key: value for key, value in node.items() if key not in ("function", "name")} == theirs
    assert [sorted(level) for level in reply["levels"]] == [sorted(level) for level in sdk["execution_levels"]]
    if name != "nested containers":  # There the SDK's drawing misses results inside inner containers.
        assert reply["dot"] == dot


class LocalClient:
    """The SDK's client as its documentation allows: its own activities, level by level, without a Temporal server."""

    def __init__(self) -> None:
        self._result = ""

    async def start_workflow(self, _: Any, *, args: list[Any], **__: Any) -> LocalClient:
        """Runs the graph that the SDK sends."""
        from marqov.workflows.activity import execute_task, prepare_node_inputs
        from temporalio.testing import ActivityEnvironment

        (sent,) = args
        results: dict[str, Any] = {}
        for level in sent["execution_levels"]:
            for node_id in level:
                inputs = json.dumps(sent["nodes"][node_id])
                ready = json.loads(await ActivityEnvironment().run(prepare_node_inputs, inputs, json.dumps(results)))
                texts = json.dumps(ready["args"]), json.dumps(ready["kwargs"])
                reply = await ActivityEnvironment().run(execute_task, node_id, ready["func_ref"], *texts)
                results[node_id] = json.loads(reply)["result"]
        (output,) = sent["output_nodes"]
        self._result = json.dumps({"result": results[output], "_workflow_metadata": {}})
        return self

    def get_workflow_handle(self, _: str) -> LocalClient:
        """The handle of the only run."""
        return self

    async def result(self) -> str:
        """What the run gave."""
        return self._result


def test_a_graph_gives_what_the_sdk_gives_when_it_runs_the_script_itself() -> None:
    code = HEAD + (
        "@task\ndef build(n): return set(range(n))\n"
        "@task\ndef sizes(xs, scale=1): return [len(x) * scale for x in xs['all']]\n"
        "@workflow\ndef wf(): return sizes({'all': [build(1), build(n=3), (1, 2j)]}, scale=10**20)\n"
    )
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(code, namespace)
    theirs = asyncio.run(namespace["wf"]().run(LocalClient()))
    assert theirs == [10**20, 3 * 10**20, 2 * 10**20]
    assert run(captured(code)) == theirs


def test_two_captures_give_the_same_graph() -> None:
    code = DIAMOND.replace("def wf():", "def wf(theta=1):")
    assert captured(code) == captured(code)


def test_the_settings_of_a_task_are_in_its_nodes() -> None:
    code = (
        HEAD
        + "@task(name='Slow one', retries=3, timeout=1.5)\ndef f(): return 1\n@workflow(name='W')\ndef wf(): return f()\n"
    )
    reply = captured(code)
    assert reply["name"] == "W"
    node = reply["nodes"][0]
    assert (node["name"], node["func_name"], node["retries"], node["timeout_seconds"]) == ("Slow one", "f", 3, 1.5)


VALUES = {
    "integer beyond a double": "2**53 + 1",
    "integer of 4,000 digits": "-10**4000",
    "integer of 20,000 digits": "10**20000",
    "not a number": "float('nan')",
    "infinity in a list": "[1, float('-inf')]",
    "numpy not a number": "np.float64('nan')",
    "text with a NUL": "'a\\0b'",
    "text with a lone surrogate": "{'k': '\\ud800'}",
    "key with a NUL": "{'a\\0': 1}",
    "keys that are no texts": "{1: 'a', (2, 3): 'b'}",
    "set": "{1, 2}",
    "complex": "1j",
    "bytes": "b'x'",
    "array": "np.arange(3)",
    "named tuple": "Point(1, 2)",
    "own class": "Box(5)",
    "deep lists": "deep(100)",
    "deep list with a set": "deep(30, {1})",
    "true and false": "[True, False, 0, 1]",
    "falsy marker key": "{'__proxy__': False, '__cloudpickle__': 0}",
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_an_argument_reaches_its_task_exactly(value: str) -> None:
    code = HEAD + (
        "import numpy as np, collections\nPoint = collections.namedtuple('Point', 'x y')\n"
        "class Box:\n    def __init__(self, v): self.v = v\n    def __repr__(self): return f'Box({self.v})'\n"
        "def deep(n, x=1):\n    for _ in range(n): x = [x]\n    return x\n"
        "def said(x):\n"
        "    if isinstance(x, int): return hex(x)\n"
        "    return repr(x.item() if isinstance(x, np.floating) else x)\n"
        "@task\ndef seen(x, y): return [said(x), said(y)]\n"
        f"value = {value}\n@workflow\ndef wf(): return [seen(value, y=value), said(value)]\n"
    )
    (by_place, by_name), expected = run(captured(code))
    assert by_place == by_name == expected


def test_a_task_sees_the_device_of_the_child_it_runs_in() -> None:
    code = HEAD + (
        "from marqov import get_device\n@task\ndef f(): return [repr(device), repr(get_device({}))]\n"
        "@workflow\ndef wf(): return f()\n" + f"padding = {'x' * 10_000!r}\n"
    )
    reply = captured(code)
    assert len(reply["nodes"][0]["function"]) < 10_000
    provide_device(device("another"))
    assert run(reply) == ["<device another>", "<device another>"]


CALLS: dict[str, tuple[str, dict[str, Any] | None, dict[str, Any], Any]] = {
    "params by name": ("def wf(theta, n=2): return echo([theta, n])", None, {"theta": 0.5}, [0.5, 2]),
    "service names if asked for": ("def wf(shots, *, backend): return echo([shots, backend])", None, {}, [1, "local"]),
    "positional-only": ("def wf(a, b=3, /, c=4): return echo([a, b, c])", None, {"a": 1, "c": 9}, [1, 3, 9]),
    "second positional-only": ("def wf(a=1, b=2, /, **rest): return echo([a, b, rest])", None, {"b": 5, "c": 6}, [1, 5, {"shots": 1, "backend": "local", "c": 6}]),
    "all of them": ("def wf(**all): return echo(sorted(all))", None, {"z": 1}, ["backend", "shots", "z"]),
    "arguments": ("def wf(a, *b, c): return echo([a, b, c])", {"args": [10**30, 2, 3], "kwargs": {"c": {"d": 1}}}, {}, [10**30, [2, 3], {"d": 1}]),
    "arguments instead of params": ("def wf(a=1): return echo(a)", {"args": [], "kwargs": {}}, {"a": 5}, 1),
}  # fmt: skip


@pytest.mark.parametrize(("body", "arguments", "params", "expected"), CALLS.values(), ids=CALLS.keys())
def test_a_workflow_is_called_with_what_it_accepts(
    body: str, arguments: dict[str, Any] | None, params: dict[str, Any], expected: Any
) -> None:
    assert run(captured(ADD + "@workflow\n" + body, None, arguments, **params)) == expected


def test_an_entrypoint_chooses_among_several_workflows_and_over_main() -> None:
    code = ADD + "@workflow\ndef one(): return echo(1)\n@workflow\ndef two(): return echo(2)\ndef main(): pass\n"
    assert run(captured(code, "two")) == 2


def test_one_workflow_under_two_names_is_one() -> None:
    assert run(captured(DIAMOND + "again = wf\n")) == 36


REFUSALS: dict[str, tuple[str, str, int | None]] = {
    "no workflow": (ADD, "no workflow found", None),
    "several workflows": (ADD + "@workflow\ndef b(): pass\n@workflow\ndef a(): pass", "several workflows were found (a, b)", None),
    "main beside a workflow": (DIAMOND + "def main(): return 1", "defines main()", None),
    "no such entrypoint": (DIAMOND, "no workflow 'nope'; its workflows are wf", None),
    "entrypoint that is a task": (ADD, "no workflow 'add'; it has no workflow", None),
    "decides on a result": (ADD + "@workflow\ndef wf():\n    r = add(1, 2)\n    if r:\n        pass\n", "the workflow 'wf' uses the result of a task", 9),
    "compares a result": (ADD + "@workflow\ndef wf():\n    if add(1, 2) == 3: return 1\n", "in a comparison", 8),
    "compares a result for order": (ADD + "@workflow\ndef wf():\n    return [x for x in [1] if add(1, 2) > 3]\n", "uses the result of a task", 8),
    "computes with a result": (ADD + "@workflow\ndef wf():\n    return add(1, 2) + 1\n", "decide and compute inside a task", 8),
    "loops over a result": (ADD + "@workflow\ndef wf():\n    for x in echo([1]): pass\n", "not iterable", 8),
    "result made into text": (ADD + "@workflow\ndef wf():\n    a = echo(1)\n    return echo(f'theta={a}')\n", "Task 'echo': positional argument 0: a task result was made into text", 9),
    "result made into text and returned": (ADD + "@workflow\ndef wf():\n    return {'t': str(echo(1))}\n", "wf() returned['t']: a task result was made into text", None),
    "result in a set": (ADD + "@workflow\ndef wf():\n    a = echo(1)\n    return echo({a})\n", "Task 'echo': positional argument 0", 9),
    "result in an object, deep": (ADD + "class B: pass\n@workflow\ndef wf():\n    b = B()\n    b.inner = B()\n    b.inner.x = echo(1)\n    return echo(x=b)\n", "keyword argument 'x'", 12),
    "result among keys that are no texts": (ADD + "@workflow\ndef wf():\n    return echo({1: echo(1)})\n", "non-str keys", 8),
    "result in a task's own global": (HEAD + "@task\ndef f(): return kept\n@task\ndef g(): return 1\n@workflow\ndef wf():\n    global kept\n    kept = g()\n    return f()\n", "cannot be replaced by its value", 10),
    "result of another workflow": (ADD + "@workflow\ndef other():\n    global kept\n    kept = echo(1)\nother()\n@workflow\ndef wf(): return echo(kept)\n", "task 'echo' takes a result that another workflow recorded", 12),
    "result of another workflow returned": (ADD + "@workflow\ndef other():\n    global kept\n    kept = echo(1)\nother()\n@workflow\ndef wf(): return kept\n", "references a different graph", None),
    "dispatch returned": (ADD + "@workflow\ndef other(): return echo(1)\n@workflow\ndef wf(): return [other()]\n", "Nested workflow dispatch", None),
    "forged reference": (ADD + "@workflow\ndef wf():\n    a = echo(1)\n    return echo({'__proxy__': True, 'node_id': a.node_id})\n", "the key '__proxy__' is not a result", 9),
    "reserved key": (ADD + "@workflow\ndef wf(): return echo({'__cloudpickle__': True})\n", "the key '__cloudpickle__' is reserved", 7),
    "reserved key returned": (ADD + "@workflow\ndef wf(): return {'a': {'__proxy__': 1}}\n", "wf() returned['a']: the key '__proxy__' is reserved", None),
    "keys that become one": (ADD + "@workflow\ndef wf(): return {1: 'a', '1': 'b'}\n", "two keys become the text '1'", None),
    "object returned": (ADD + "@workflow\ndef wf(): return [1, object()]\n", "wf() returned[1]: object cannot be part of a result", None),
    "not a number returned": (ADD + "@workflow\ndef wf(): return [float('nan')]\n", "wf() returned[0]: nan", None),
    "NUL returned": (ADD + "@workflow\ndef wf(): return 'a\\0'\n", "NUL", None),
    "returned list that holds itself": (ADD + "@workflow\ndef wf():\n    a = []\n    a.append(a)\n    return a\n", "Cyclic", None),
    "argument that holds itself": (ADD + "@workflow\ndef wf():\n    a = []\n    a.append(a)\n    return echo(a)\n", "Cyclic", 10),
    "argument nested 100,000 deep": (ADD + "@workflow\ndef wf():\n    a = []\n    for _ in range(100000): a = [a]\n    return echo(a)\n", "RecursionError", 10),
    "lock as argument": (ADD + "import threading\n@workflow\ndef wf(): return echo(threading.Lock())\n", "Task 'echo': positional argument 0 cannot be sent", 8),
    "lock in a task's global": (HEAD + "import threading\nlock = threading.Lock()\n@task\ndef f(): return lock\n@workflow\ndef wf(): return f()\n", "cannot pickle '_thread.lock'", 7),
    "argument over 3 MiB": (ADD + "@workflow\ndef wf(): return echo('x' * 4_000_000)\n", "over the 3145728-byte limit", 7),
    "arguments over 3 MiB together": (ADD + "@workflow\ndef wf(): return add('x' * 2_000_000, 'y' * 2_000_000)\n", "its arguments together encode to", 7),
    "graph over 12 MiB": (ADD + "@workflow\ndef wf(): return [echo('x' * 2_000_000) for _ in range(7)]\n", "the largest task is 'echo' (its arguments)", 7),
    "functions over 12 MiB": (HEAD + "big = 'x' * 10_000_000\n@task\ndef f(): return big\n@workflow\ndef wf(): return f()\n", "the largest task is 'f' (its function with what it refers to)", 6),
    "endless tasks": (ADD + "@workflow\ndef wf():\n    while True: echo(1)\n", "records more than 2000 tasks", 8),
    "retries below 0": (HEAD + "@task(retries=-1)\ndef f(): pass\n@workflow\ndef wf(): return f()\n", "task 'f': retries must be an integer from 0", 5),
    "retries that is a text": (HEAD + "@task(retries='3')\ndef f(): pass\n@workflow\ndef wf(): return f()\n", "task 'f': retries", 5),
    "timeout of 0": (HEAD + "@task(timeout=0)\ndef f(): pass\n@workflow\ndef wf(): return f()\n", "task 'f': timeout must be a number of seconds above 0", 5),
    "timeout that is no number": (HEAD + "@task(timeout=float('nan'))\ndef f(): pass\n@workflow\ndef wf(): return f()\n", "task 'f': timeout", 5),
    "name that is no text": (HEAD + "@task(name=7)\ndef f(): pass\n@workflow\ndef wf(): return f()\n", "task 'f': name must be a text", 5),
    "async workflow": (ADD + "@workflow\nasync def wf(): return echo(1)\n", "the workflow 'wf' is async", None),
    "generator": (ADD + "@workflow\ndef wf(): yield echo(1)\n", "generator cannot be part of a result", None),
    "forged workflow": ("def wf(): return 1\nwf._is_workflow = True\n", "not a workflow of the package 'marqov'", None),
    "edges changed": (ADD + "@workflow\ndef wf():\n    a, b = echo(1), echo(2)\n    a._graph.edges.append((a.node_id, b.node_id))\n    return b\n", "the workflow changed its graph", None),
    "cycle": (ADD + "@workflow\ndef wf():\n    a = echo(1)\n    b = echo(a)\n    a._node.dependencies.append(b.node_id)\n    return b\n", "the workflow changed its graph", None),
    "error in the workflow": (ADD + "@workflow\ndef wf():\n    return 1 / 0\n", "ZeroDivisionError: division by zero", 8),
    "error in the module": ("import nothere", "nothere", 1),
    "syntax error": ("def (", "SyntaxError", 1),
    "exits in the workflow": (ADD + "@workflow\ndef wf():\n    raise SystemExit(3)\n", "exited with 3", 8),
    "hostile attribute": ("class A:\n    def __getattr__(self, name): raise ValueError('no')\na = A()\n", "ValueError: no", 2),
}  # fmt: skip


@pytest.mark.parametrize(("code", "said", "line"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_workflow_without_a_faithful_graph_is_refused_with_the_place(
    code: str, said: str, line: int | None, request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.id
    chosen = {"no such entrypoint": "nope", "entrypoint that is a task": "add"}
    entrypoint = chosen.get(name, "wf" if "def other" in code else None)
    error = refused(code, entrypoint)
    assert said in error.message
    assert error.line == line
    assert "qjs_executor" not in error.message
    assert "site-packages" not in error.message


@pytest.mark.parametrize(
    ("arguments", "params", "said"),
    [
        (None, {"theta": 1, "noise_model": {}}, "wf() does not accept 'noise_model'; it accepts theta, n"),
        (None, {}, "wf() needs 'theta', which is not among the job's params"),
        ({"args": [1, 2, 3], "kwargs": {}}, {}, "wf(theta, n=2): too many positional arguments"),
        ({"args": [], "kwargs": {"n": 1}}, {}, "wf(theta, n=2): missing a required argument: 'theta'"),
        ({"args": [1], "kwargs": {"m": 1}}, {}, "wf(theta, n=2): got an unexpected keyword argument 'm'"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_naming_them(
    arguments: dict[str, Any] | None, params: dict[str, Any], said: str
) -> None:
    assert said in refused(ADD + "@workflow\ndef wf(theta, n=2): pass\n", None, arguments, **params).message


def test_without_the_sdk_workflows_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "marqov", None)
    error = refused(DIAMOND)
    assert error.code == "unsupported_operation"
    assert error.message == "workflows need the package 'marqov', which is not installed here (it needs Python 3.12)"


def test_a_graph_of_2000_tasks_is_returned_whole() -> None:
    reply = captured(
        ADD + "@workflow\ndef wf():\n    x = 0\n    for i in range(1000): x = add(x, echo(i))\n    return x\n"
    )
    assert len(reply["nodes"]) == graph.TASKS_MAX
    assert len(reply["levels"]) == 1001
    assert len(json.dumps(reply)) < graph.ANSWER_BYTES_MAX


def test_two_results_may_be_compared_with_each_other() -> None:
    code = ADD + "@workflow\ndef wf():\n    a, b = echo(1), echo(2)\n    return [a == b, a != b, a in [b, a], a == a]\n"
    assert run(captured(code)) == [False, True, True, True]


def test_a_task_result_deeper_than_json_goes_is_refused() -> None:
    code = ADD + "@workflow\ndef wf():\n    x = echo(1)\n    for _ in range(40): x = [x]\n    return echo(x)\n"
    assert f"nested deeper than {exact_json.DEPTH_MAX} levels" in refused(code).message


def test_an_argument_is_what_it_was_when_the_task_was_called() -> None:
    code = ADD + (
        "from marqov import Circuit\nimport numpy as np\n@task\ndef width(c, a): return [c.num_qubits, float(a[0])]\n"
        "@workflow\ndef wf():\n    c, a, seen = Circuit(), np.zeros(1), []\n"
        "    for i in range(3):\n        c.h(i)\n        a += 1\n        seen.append(width(c, a))\n    return seen\n"
    )
    assert run(captured(code)) == [[1, 1.0], [2, 2.0], [3, 3.0]]


def test_no_task_runs_while_the_graph_is_built() -> None:
    code = (
        ADD
        + "ran = []\n@task\ndef note(): ran.append(1)\n@workflow\ndef wf():\n    r = note()\n    assert not ran\n    return r\n"
    )
    assert len(captured(code)["nodes"]) == 1
