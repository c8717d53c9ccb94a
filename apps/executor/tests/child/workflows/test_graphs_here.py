"""Workflows that a script runs in its own process: every shape, every value, each failure with its task's name."""

from __future__ import annotations

import importlib.util
import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from ...support.frame_child import FrameChildren, job
from .test_capture import ADD, CALLS, HEAD, SHAPES

pytestmark = pytest.mark.skipif(importlib.util.find_spec("marqov") is None, reason="the SDK needs Python 3.12")

WF = ADD + "@workflow\ndef wf(a=1):\n    s = add(a, 2)\n    return {'sum': s, 'more': [add(s, 10), 'constant']}\n"


def answer(children: FrameChildren, code: str, params: dict[str, Any] | None = None, **script: Any) -> dict[str, Any]:
    """The answer of a script that is run to its end."""
    return children.start(job(code, params=params, **script))


def result(children: FrameChildren, code: str, params: dict[str, Any] | None = None, **script: Any) -> Any:
    """The value that a script gives."""
    reply = answer(children, code, params, **script)
    assert "value" in reply, reply
    return reply["value"]


def main(body: str, *, more: str = WF, head: str = "async def main(client, params):") -> str:
    """A script with a `main` of these lines."""
    return more + head + "\n" + "".join(f"    {line}\n" for line in body.splitlines())


@pytest.mark.parametrize(("code", "expected"), SHAPES.values(), ids=SHAPES.keys())
def test_a_workflow_returns_its_result_in_its_own_shape(children: FrameChildren, code: str, expected: Any) -> None:
    assert result(children, code) == expected


@pytest.mark.parametrize(("body", "arguments", "params", "expected"), CALLS.values(), ids=CALLS.keys())
def test_a_workflow_is_called_with_what_it_accepts(
    children: FrameChildren, body: str, arguments: dict[str, Any] | None, params: dict[str, Any], expected: Any
) -> None:
    if arguments is None:
        params = {"shots": 1, "backend": "local", **params}
        assert result(children, ADD + "@workflow\n" + body, params) == expected
    else:
        entry = {
            "model": "native_workflow",
            "entrypoint": "wf",
            "input": json.dumps({"entrypoint": "wf", **arguments}),
        }
        assert result(children, ADD + "@workflow\n" + body, params, entry=entry) == expected


def test_the_metadata_shows_the_graph_and_when_its_tasks_ran(children: FrameChildren) -> None:
    reply = answer(children, WF)["workflow_metadata"]
    assert reply["execution_graph"] == {
        "nodes": {
            "task_0001": {"func_name": "add", "dependencies": []},
            "task_0002": {"func_name": "add", "dependencies": ["task_0001"]},
        },
        "execution_levels": [["task_0001"], ["task_0002"]],
        "output_nodes": ["task_0001", "task_0002"],
    }
    assert (reply["total_tasks"], reply["total_levels"]) == (2, 2)
    times = []
    for place, entry in enumerate(reply["task_timeline"]):
        times += [datetime.fromisoformat(entry.pop(name)) for name in ("started_at", "completed_at")]
        assert entry == {
            "node_id": f"task_000{place + 1}",
            "func_name": "add",
            "level": place,
            "status": "completed",
        }
    assert times == sorted(times)
    assert all(time.utcoffset() == timedelta(0) for time in times)


DISPATCHES = {
    "run": ("return await wf(5).run(client)", {"sum": 7, "more": [17, "constant"]}),
    "run with ids": ("result, a, b = await wf(5).run_with_ids(client)\nreturn [result['result'], len(result['_workflow_metadata']['task_timeline']), a[:3], len(b)]", [{"sum": 7, "more": [17, "constant"]}, 2, "wf-", 36]),
    "start with ids": ("handle, a, b = await wf(5).start_with_ids(client)\nimport json\nreturn [json.loads(await handle.result())['result'], handle.first_execution_run_id == b, client.get_workflow_handle(a) is handle]", [{"sum": 7, "more": [17, "constant"]}, True, True]),
    "dispatch": ("i = await wf(5).dispatch(client)\nimport json\nreturn json.loads(await client.get_workflow_handle(i).result())['result']['sum']", 7),
    "one after another": ("x = 1\nfor _ in range(3): x = (await wf(x).run(client))['sum']\nreturn x", 7),
    "side by side": ("import asyncio\nrs = await asyncio.gather(*[wf(i).run(client) for i in range(4)])\nreturn [r['sum'] for r in rs]", [2, 3, 4, 5]),
    "the same twice": ("d = wf(1)\nreturn [(await d.run(client))['sum'], (await d.run(client))['sum']]", [3, 3]),
    "no task": ("return await empty().run(client)", {"a": [1, None]}),
    "beside its own calls": ("return [add(1, 2), (await wf(1).run(client))['sum']]", [3, 3]),
    "values that are no JSON": ("r = await odd().run(client)\nreturn [sorted(r['set']), r['array'].sum(), r['again'][0] == {1: 2}, r['none']]", [[1, 2], 6, True, None]),
    "in an exception's way": ("try:\n    return (await wf(1).run(client))['sum']\nexcept Exception:\n    return 'caught'", 3),
    "async tasks and tasks with loops of their own": ("return await loops().run(client)", [2, 3]),
}  # fmt: skip
MORE = WF + (
    "import numpy as np\n@workflow\ndef empty(): return {'a': [1, None]}\n"
    "@task\ndef make(n):\n    return [{1, 2}, np.arange(4), {1: 2}][n]\n"
    "@workflow\ndef odd(): return {'set': make(0), 'array': make(1), 'again': [make(2)], 'none': None}\n"
    "@task\nasync def one():\n    import asyncio\n    await asyncio.sleep(0)\n    return 2\n"
    "@task\ndef two():\n    import asyncio\n    return asyncio.run(three())\nasync def three(): return 3\n"
    "@workflow\ndef loops(): return [one(), two()]\n"
)


@pytest.mark.parametrize(("body", "expected"), DISPATCHES.values(), ids=DISPATCHES.keys())
def test_a_main_dispatches_workflows_with_the_unmodified_sdk(children: FrameChildren, body: str, expected: Any) -> None:
    assert result(children, main(body, more=MORE)) == expected


def test_a_main_that_is_not_a_coroutine_dispatches_too(children: FrameChildren) -> None:
    body = "import asyncio\nreturn asyncio.run(wf(5).run(client))"
    assert result(children, main(body, head="def main(client, params):"))["sum"] == 7
    assert result(children, main("return wf(5).run(client)", head="def main(client, params):"))["sum"] == 7


def test_the_metadata_distinguishes_several_graphs(children: FrameChildren) -> None:
    reply = answer(children, main("await wf(1).run(client)\nawait wf(2).run(client)\nreturn 1"))["workflow_metadata"]
    assert [*reply["execution_graph"]["nodes"]] == ["task_0001", "task_0002", "2.task_0001", "2.task_0002"]
    assert reply["execution_graph"]["nodes"]["2.task_0002"]["dependencies"] == ["2.task_0001"]
    assert [entry["level"] for entry in reply["task_timeline"]] == [0, 1, 2, 3]
    assert reply["total_levels"] == 4


def test_a_task_that_changes_its_argument_changes_nothing_elsewhere(children: FrameChildren) -> None:
    code = HEAD + (
        "kept = [0]\n@task\ndef make(): return {'l': [1], 's': {1}}\n"
        "@task\ndef spoil(v):\n    v['l'].append(2)\n    v['s'].add(2)\n    kept.append(1)\n    return v\n"
        "@task\ndef look(v, w): return [v['l'], sorted(v['s']), w['l'], len(kept)]\n"
        "@workflow\ndef wf():\n    v = make()\n    return [look(v, spoil(v)), look(v, v), kept]\n"
    )
    assert result(children, code) == [[[1], [1], [1, 2], 1], [[1], [1], [1], 1], [0]]


def test_a_run_on_the_device_of_a_task_is_not_the_result_of_main(children: FrameChildren) -> None:
    code = main("await go().run(client)", more=HEAD + (
        "from marqov import Circuit\n@task\ndef f(): return device.run(Circuit().x(0), 8)\n@workflow\ndef go(): return f()\n"
    ))  # fmt: skip
    reply = answer(children, code)
    assert reply["value"] is None
    assert "main() returned nothing" in reply["warnings"][0]


FAILURES = {
    "exception": (ADD + "@workflow\ndef wf(): return echo(add(1, None))\n", "task 'add' (task_0001): TypeError: unsupported operand", 3),
    "second task": (ADD + "@task\ndef bad(x): return 1 / x\n@workflow\ndef wf(): return bad(add(1, -1))\n", "task 'bad' (task_0002): ZeroDivisionError: division by zero", 7),
    "time limit": (HEAD + "@task(timeout=2)\ndef f():\n    while True: pass\n@workflow\ndef wf(): return f()\n", "task 'f' (task_0001): time limit of 2 s", 4),
    "time limit asleep": (HEAD + "import time\n@task(timeout=2)\ndef f():\n    time.sleep(60)\n@workflow\ndef wf(): return f()\n", "task 'f' (task_0001): time limit of 2 s", 5),
    "time limit that is taken for an exception": (HEAD + "import time\n@task(timeout=0.2)\ndef f():\n    try: time.sleep(60)\n    except: pass\n    return 1\n@workflow\ndef wf(): return f()\n", "task 'f' (task_0001): time limit of 0.2 s", None),
    "time limit of a coroutine": (HEAD + "import asyncio\n@task(timeout=0.2)\nasync def f():\n    await asyncio.sleep(60)\n@workflow\ndef wf(): return f()\n", "task 'f' (task_0001): time limit of 0.2 s", None),
    "result that cannot be kept": (HEAD + "@task\ndef f(): return (i for i in [1])\n@workflow\ndef wf(): return f()\n", "task 'f' (task_0001): f() returned what cannot be kept", None),
    "output that cannot be shown": (HEAD + "@task\ndef f(): return {1, 2}\n@workflow\ndef wf(): return {'energy': [f()]}\n", "wf() returned['energy'][0]: set cannot be part of a result", None),
    "output that is not a number": (HEAD + "@task\ndef f(): return float('nan')\n@workflow\ndef wf(): return f()\n", "wf() returned: nan is not a JSON number", None),
    "several workflows": (ADD + "@workflow\ndef b(): pass\n@workflow\ndef a(): pass", "several workflows were found (a, b); define main()", None),
    "result as a condition": (ADD + "@workflow\ndef wf():\n    if add(1, 2): return 1\n", "the workflow 'wf' uses the result of a task", 8),
    "cycle": (ADD + "@workflow\ndef wf():\n    a = echo(1)\n    b = echo(a)\n    a._node.dependencies.append(b.node_id)\n    return b\n", "the workflow changed its graph", None),
    "missing input": (ADD + "@workflow\ndef wf(theta): return echo(theta)\n", "wf() needs 'theta', which is not among the job's params", None),
    "unknown input": (ADD + "@workflow\ndef wf(): return echo(1)\n", "wf() does not accept 'extra'; it accepts nothing", None),
    "failing dispatch that is caught": (main("try: await wf('x').run(client)\nexcept BaseException: pass\nreturn 'went on'"), "task 'add' (task_0001): TypeError", 3),
    "failing dispatch that is gathered": (main("import asyncio\nawait asyncio.gather(wf('x').run(client), return_exceptions=True)\nreturn 'went on'"), "task 'add' (task_0001): TypeError", 3),
    "dispatch after a failing one": (main("try: await wf('x').run(client)\nexcept BaseException: pass\nreturn await wf(1).run(client)"), "task 'add' (task_0001): TypeError", 3),
    "dispatch that is not run": (main("return wf(1)"), "main() returned a workflow that has not run", None),
    "workflow of another client": (main("return await client.start_workflow('x', args=[{}], id='a', task_queue='q')"), "only a workflow of this script can be started", 11),
    "unknown handle": (main("return client.get_workflow_handle('nope')"), "this script has started no workflow 'nope'", 11),
}  # fmt: skip


@pytest.mark.parametrize(("code", "said", "line"), FAILURES.values(), ids=FAILURES.keys())
def test_a_failure_names_its_task_and_its_line(
    children: FrameChildren, code: str, said: str, line: int | None, request: pytest.FixtureRequest
) -> None:
    params = {"extra": 1} if request.node.callspec.id == "unknown input" else None
    reply = answer(children, code, params)
    assert reply.get("ok") is False, reply
    assert said in reply["message"]
    assert reply["line"] == line
    assert "qjs_executor" not in reply["message"]


@pytest.mark.parametrize("call", ["wf(1)", "wf(1).run(client)", "print(wf(1).visualize())"])
def test_a_workflow_that_is_called_and_never_run_gets_a_warning(children: FrameChildren, call: str) -> None:
    reply = answer(children, main(f"{call}\nreturn 5"))
    assert reply["value"] == 5
    assert reply["warnings"] == [
        "a workflow was called but not run: what the call gives is a plan, until `await workflow(...).run(client)`"
    ]
    assert answer(children, main("await wf(1).run(client)\nreturn 5"))["warnings"] == []


def test_a_client_without_workflows_refuses_with_the_reason(children: FrameChildren) -> None:
    code = "async def main(client, params):\n    return await client.start_workflow('x', args=[{}], id='a')\n"
    reply = children.start(job(code, framework="qiskit"))
    assert "only a workflow of this script can be started" in reply["message"]
    assert reply["line"] == 2


def test_big_integers_pass_through_a_graph(children: FrameChildren) -> None:
    assert result(children, WF, {"a": 10**4299})["more"][0] == 10**4299 + 12


def test_a_graph_of_2000_tasks_runs_in_order(children: FrameChildren) -> None:
    code = ADD + "@workflow\ndef wf():\n    x = 0\n    for i in range(2000): x = add(x, i)\n    return x\n"
    assert result(children, code) == 1999 * 1000


ENTRIES: dict[str, tuple[dict[str, Any], Any]] = {
    "a workflow": ({"model": "native_workflow", "entrypoint": "wf", "args": [1], "kwargs": {}}, {"sum": 3, "more": [13, "constant"]}),
    "a task": ({"model": "single_task", "entrypoint": "add", "args": [10**30], "kwargs": {"y": 1}}, 10**30 + 1),
    "an async task": ({"model": "single_task", "entrypoint": "later", "args": [], "kwargs": {}}, 5),
    "a workflow beside main": ({"model": "native_workflow", "entrypoint": "wf", "args": [2], "kwargs": {}}, {"sum": 4, "more": [14, "constant"]}),
}  # fmt: skip
NATIVE = (
    WF
    + "@task\nasync def later(): return 5\n@workflow\ndef other(): return add(1, 1)\ndef main(): raise RuntimeError\n"
)


@pytest.mark.parametrize(("entry", "expected"), ENTRIES.values(), ids=ENTRIES.keys())
def test_a_native_submission_calls_what_it_names(children: FrameChildren, entry: dict[str, Any], expected: Any) -> None:
    assert result(children, NATIVE, entry=sent(**entry)) == expected


def sent(model: str, entrypoint: str, **given: Any) -> dict[str, Any]:
    """An entry as the service sends it."""
    return {"model": model, "entrypoint": entrypoint, "input": json.dumps({"entrypoint": entrypoint, **given})}


BAD_ENTRIES = {
    "no such workflow": (sent("native_workflow", "nope", args=[], kwargs={}), "the script has no workflow 'nope'; its workflows are other, wf"),
    "a task as a workflow": (sent("native_workflow", "add", args=[], kwargs={}), "the script has no workflow 'add'"),
    "a workflow as a task": (sent("single_task", "wf", args=[], kwargs={}), "the script has no task 'wf'; its tasks are add, echo, later"),
    "a plain function": (sent("single_task", "main", args=[], kwargs={}), "the script has no task 'main'"),
    "too many arguments": (sent("single_task", "echo", args=[1, 2], kwargs={}), "echo(x): too many positional arguments"),
    "4,301 digits": ({"model": "single_task", "entrypoint": "echo", "input": '{"entrypoint":"echo","args":[1' + "0" * 4300 + '],"kwargs":{}}'}, "input: is not JSON as it has to be: Exceeds the limit"),
    "not a number": ({"model": "single_task", "entrypoint": "echo", "input": '{"entrypoint":"echo","args":[NaN],"kwargs":{}}'}, "NaN is not a JSON number"),
    "another name": ({"model": "single_task", "entrypoint": "echo", "input": '{"entrypoint":"add","args":[],"kwargs":{}}'}, "input: its entrypoint is 'add', not 'echo'"),
    "something else": ({"model": "single_task", "entrypoint": "echo", "input": '{"entrypoint":"echo","args":{},"kwargs":{}}'}, "input: must be an object of entrypoint, args"),
    "too deep": ({"model": "single_task", "entrypoint": "echo", "input": "[" * 100_000}, "input: is not JSON as it has to be"),
}  # fmt: skip


@pytest.mark.parametrize(("entry", "said"), BAD_ENTRIES.values(), ids=BAD_ENTRIES.keys())
def test_a_native_submission_that_does_not_fit_is_refused(
    children: FrameChildren, entry: dict[str, Any], said: str
) -> None:
    assert said in answer(children, NATIVE, entry=entry)["message"]


def test_a_native_submission_of_a_script_without_the_sdk_is_refused(children: FrameChildren) -> None:
    reply = answer(children, "def wf(): return 1\n", entry=sent("native_workflow", "wf", args=[], kwargs={}))
    assert reply["message"] == "the script has no workflow or task 'wf': it does not use marqov"


def test_without_the_sdk_a_dispatching_main_names_what_is_missing(children: FrameChildren) -> None:
    reply = children.start(job(main("return await wf(1).run(client)")), without="marqov")
    assert reply["ok"] is False
    assert "marqov" in reply["message"]
    assert reply["line"] == 1
