"""Tasks of one job in one confinement: each in a process of its own, for which the previous one leaves nothing."""

from __future__ import annotations

import importlib.util
import json
import uuid
from typing import Any

import pytest

from ..child.workflows.test_task_runs import one
from ..isolation.test_escapes import has_namespaces
from ..support.executor import Executor, eventually

pytestmark = pytest.mark.skipif(importlib.util.find_spec("marqov") is None, reason="the SDK needs Python 3.12")

BEGIN = {"seed": 7, "now": 1_700_000_000}
WHERE = "open('/proc/1/stat').read().rsplit(')', 1)[1].split()[19]"
"""When the first process of a task's namespace was started: another one for each confinement."""


class Tasks:
    """One-task scripts run as tasks of named jobs. All have one source, as the tasks of a job do."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.job = str(uuid.uuid4())

    def run(self, body: str, job: str | None = None, **fields: Any) -> dict[str, Any]:
        """The outcome of a task with this body; `job` is another than the usual one, or "" for none."""
        code = one(body)
        source = {"kind": "code", "framework": "marqov", "code": code}
        asked = self.executor.run(source, graphs="ask", script=BEGIN).outcome
        node = asked["ask"]["graph"]["nodes"][0]
        task = {"name": node["func_name"], "function": node["function"], "arguments": node["arguments"], "values": {}}
        of = self.job if job is None else job
        source = {"kind": "code", "framework": "marqov", "code": "import marqov\n"}
        more = {"task_of": of} if of else {}
        return self.executor.run(source, task=task, **{"wall": 120, **more, **fields}).outcome

    def value(self, body: str, job: str | None = None, **fields: Any) -> Any:
        """What it returns."""
        ended = self.run(body, job, **fields)
        assert ended["status"] == "completed", ended
        return json.loads(ended["result"])

    def where(self, job: str | None = None) -> str:
        """In which confinement the next task runs."""
        return str(self.value(f"def f(): return {WHERE}", job))


@pytest.fixture
def tasks(executor: Executor) -> Tasks:
    """Tasks of a job of their own, where tasks of one job may share a confinement."""
    if not has_namespaces(executor):
        pytest.skip("each task has a child of its own here")
    return Tasks(executor)


def test_only_tasks_of_one_job_share_a_confinement(tasks: Tasks) -> None:
    def shared() -> bool:
        first, second = tasks.where(), tasks.where()
        others = tasks.where("another job"), tasks.where("")
        assert not {first, second} & {*others}
        # A confinement is kept for three seconds, in which a busy machine may not get to the next task.
        return first == second == tasks.where()

    eventually(shared, 120, "the tasks of one job share their confinement")


def test_a_confinement_is_removed_when_no_task_follows(tasks: Tasks) -> None:
    tasks.where()
    eventually(lambda: tasks.executor.descendants() == [], 60, "nothing of it is left")


DRAWS = (
    "def f():\n    import random, time, uuid, numpy as np\n"
    "    return [random.random(), np.random.rand(), np.random.default_rng().random(), str(uuid.uuid4()), time.time()]"
)


def test_fixed_randomness_and_clock_are_the_same_in_a_shared_confinement(tasks: Tasks) -> None:
    alone = tasks.value(DRAWS, "", script=BEGIN)
    assert [tasks.value(DRAWS, script=BEGIN) for _ in range(3)] == [alone] * 3


def test_tasks_draw_randomness_of_their_own(tasks: Tasks) -> None:
    drawn = [tasks.value(DRAWS) for _ in range(4)]
    for place in range(4):
        assert len({values[place] for values in drawn}) == 4


def test_what_a_task_prints_is_its_own(tasks: Tasks) -> None:
    for text in ("a", "b" * 200_000, "c"):
        ended = tasks.run(
            f"def f():\n    import sys\n    print({text[0]!r} * {len(text)})\n    print('e', file=sys.stderr)"
        )
        assert ended["stdout"] == f"{text}\n"


LEFT = {
    "a variable of a module": ("import math; math.left = 1", "hasattr(__import__('math'), 'left')"),
    "an environment variable": ("import os; os.environ['LEFT'] = '1'", "'LEFT' in __import__('os').environ"),
    "a file": ("open('left', 'w').write('x')", "'left' in __import__('os').listdir('.')"),
    "a file in shared memory": ("open('/dev/shm/left', 'w').write('x')", "__import__('os').listdir('/dev/shm') != []"),
    "a file that is gone again": ("import os; open('left', 'w').close(); os.unlink('left')", "False"),
    "rights of a folder": ("import os; os.chmod('/tmp', 0o500)", "__import__('os').stat('/tmp').st_mode & 0o777 != 0o700"),
    "an attribute of a folder": ("import os; os.setxattr('/tmp', 'user.left', b'1')", "__import__('os').listxattr('/tmp') != []"),
    "a limit of the first process": (
        "import resource; resource.prlimit(1, resource.RLIMIT_NOFILE, (40, 40))",
        "__import__('resource').getrlimit(7)[0] == 40",
    ),
    "the priority of the first process": (
        "import os; os.setpriority(os.PRIO_PROCESS, 1, 19)",
        "__import__('os').getpriority(0, 0) == 19",
    ),
    "signals for the first process": (
        "import os, signal\n    for n in range(1, 32): os.kill(1, n) if n not in (9, 19) else None",
        "False",
    ),
    "an output that does not wait": ("import os; os.set_blocking(1, False)", "not __import__('os').get_blocking(1)"),
    "a process": (
        "import os, time\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0: time.sleep(60)\n        os._exit(0)",
        "len([p for p in __import__('os').listdir('/proc') if p.isdigit()]) > 2",
    ),
    "a process that prints": (
        "import os\n    if os.fork() == 0:\n        while True: os.write(1, b'LEFT')",
        "False",
    ),
    "a second answer": (
        "import os; b = b'{\"free\":true}'; os.write(4, len(b).to_bytes(4, 'little') + b)",
        "False",
    ),
    "a job of its own": ("import os; os.write(3, b'xx')", "False"),
}  # fmt: skip
"""What a task does, and whether the next one finds it."""


@pytest.mark.parametrize(("leaves", "found"), LEFT.values(), ids=LEFT.keys())
def test_a_task_finds_nothing_that_the_previous_one_left(tasks: Tasks, leaves: str, found: str) -> None:
    tasks.where()
    tasks.run(f"def f():\n    {leaves}\n    return 1")
    ended = tasks.run(f"def f(): return [{found}, 7]")
    assert (ended["status"], ended["result"], ended["stdout"]) == ("completed", "[false,7]", "")


ENDS = {
    "a crash": ("import ctypes; ctypes.string_at(0)", "crashed: signal 11", {}),
    "an exit": ("import os; os._exit(3)", "crashed: exit code 3", {}),
    "a closed answer": ("import os, time; os.close(4); time.sleep(60)", "crashed: bad result", {}),
    "a time limit": ("while True: pass", "time limit of 1 s", {"wall": 1}),
    "too much memory": ("b = bytearray(8 << 30)", "memory limit of 4 GiB", {}),
    "a flood": ("while True: print('x' * 100_000)", "output limit of 16 MiB", {}),
    "an exception": ("raise ValueError('mine')", "ValueError: mine", {}),
}  # fmt: skip


@pytest.mark.parametrize(("body", "said", "fields"), ENDS.values(), ids=ENDS.keys())
def test_a_killed_task_fails_without_affecting_others(
    tasks: Tasks, body: str, said: str, fields: dict[str, Any]
) -> None:
    tasks.where()
    ended = tasks.run(f"def f():\n    {body}", **fields)
    assert ended["status"] == "failed", ended
    assert said in ended["error"]["message"]
    assert tasks.value("def f(): return 7") == 7


def test_each_task_has_a_processor_time_limit_of_its_own(tasks: Tasks) -> None:
    body = "def f():\n    import resource, time\n    return [time.process_time() < 1, resource.getrlimit(resource.RLIMIT_CPU)[0]]"
    tasks.value("def f():\n    import time\n    while time.process_time() < 1.5: pass", wall=300)
    assert [tasks.value(body, wall=wall) for wall in (90, 40, 200)] == [[True, 91], [True, 41], [True, 201]]


def test_task_of_needs_a_task(executor: Executor) -> None:
    source = {"kind": "code", "framework": "marqov", "code": "x = 1"}
    answer = executor.http.post("/run", json=executor.request(source, task_of="job"))
    assert (answer.status_code, "task_of" in answer.json()["error"]["message"]) == (400, True)
