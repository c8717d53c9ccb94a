"""Tasks in children of a real executor, some of them hostile: they end like any run, and nothing else is affected."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import pytest

from ..child.workflows.test_task_runs import one
from ..support.executor import Executor

pytestmark = pytest.mark.skipif(importlib.util.find_spec("marqov") is None, reason="the SDK needs Python 3.12")

BEGIN = {"seed": 7, "now": 1_700_000_000}


def outcome_of_task(executor: Executor, code: str, wall: float = 120) -> dict[str, Any]:
    """The outcome of the first task of a script's workflow in a child of its own."""
    source = {"kind": "code", "framework": "marqov", "code": code}
    asked = executor.run(source, graphs="ask", script=BEGIN).outcome
    assert asked["status"] == "asked", asked
    node = asked["ask"]["graph"]["nodes"][0]
    task = {"name": node["func_name"], "function": node["function"], "arguments": node["arguments"], "values": {}}
    return executor.run(source, wall=wall, task=task).outcome


HARM = {
    "ends its child": ("def f():\n    import os\n    os._exit(0)", "crashed: exit code 0"),
    "reads where nothing is": ("def f():\n    import ctypes\n    ctypes.string_at(0)", "crashed: signal 11"),
    "closes every descriptor": ("def f():\n    import os\n    os.closerange(0, 100)", "crashed: exit code 1"),
    "makes a request that is never answered": ("def f():\n    import os\n    b = b'{\"ask\":{}}'\n    os.write(4, len(b).to_bytes(4, 'little') + b)\n    return 1", "crashed: bad result"),
    "claims a length": ("def f():\n    import os\n    os.write(4, b'\\xff\\xff\\xff\\xff')\n    return 1", "crashed: bad result"),
    "prints without end": ("def f():\n    while True: print('x' * 100_000)", "output limit of 16 MiB"),
    "never returns": ("def f():\n    while True: pass", "time limit of 2 s"),
    "takes every exception and never returns": ("def f():\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass", "time limit of 2 s"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "said"), HARM.values(), ids=HARM.keys())
def test_a_hostile_task_fails_without_affecting_others(executor: Executor, body: str, said: str) -> None:
    code = one(body)
    # Only what never ends meets its limit, however little a busy machine gives the others.
    ended = outcome_of_task(executor, code, wall=2 if said == "time limit of 2 s" else 120)
    assert ended["status"] == "failed", ended
    assert said in ended["error"]["message"]
    assert outcome_of_task(executor, one("def f(): return 7"))["result"] == "7"


def test_nothing_that_a_task_prints_or_starts_outlives_it(executor: Executor) -> None:
    body = (
        "def f():\n    import threading\n    print('printed')\n"
        "    def spin():\n        while True: pass\n    threading.Thread(target=spin, daemon=True).start()\n    return 1"
    )
    ended = outcome_of_task(executor, one(body))
    assert (ended["status"], ended["result"], ended["stdout"]) == ("completed", "1", "printed\n")


def test_a_task_has_no_network_and_sees_no_secret_of_the_service(executor: Executor) -> None:
    body = (
        "def f():\n    import os, socket\n"
        "    try:\n        socket.create_connection(('127.0.0.1', 80), 1)\n        reached = True\n"
        "    except OSError:\n        reached = False\n    return [reached, 'EXECUTOR_TOKEN' in os.environ]"
    )
    assert json.loads(outcome_of_task(executor, one(body))["result"]) == [False, False]
