"""Code that means harm: every case ends with a reason, the executor stays well, and the next run succeeds. The bombs of
`escape_tables.py` are more of them, tried at every level.

All cases run at the start, three at a time, each followed by a health request and every few by a Bell pair; the tests
judge them.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from ..support.executor import BELL, FOLDER, Answer, Executor, python, qasm

# The end of the child that code could write to; found by trying, as an attacker would.
_RESULT_FD = (
    "import os\n"
    "fds = [fd for fd in range(3, 64) if os.path.exists(f'/proc/self/fd/{fd}')"
    " and os.readlink(f'/proc/self/fd/{fd}').startswith('pipe:')]\n"
)
_WALL = 1.0
GROUP = 4
"""Cases between two Bell pairs: a run costs over a second of imports, and what a case breaks stays broken."""


@dataclass(frozen=True)
class Case:
    """A program and the text that its error has to contain; `wall` seconds for those that only the time limit stops."""

    code: str
    message: str
    wall: float = 120.0
    kind: str = "execution_error"


CASES: dict[str, Case] = {
    "endless loop": Case("while True: pass", "time limit of 9 s", 9.0),
    "10 GB array": Case("import numpy\nx = numpy.ones(10 * 1000**3 // 8)", "memory limit of 4 GiB"),
    "memory in small steps": Case("x = []\nwhile True: x.append(bytearray(50_000_000))", "memory limit of 4 GiB"),
    "os._exit with a code": Case("import os\nos._exit(7)", "crashed: exit code 7"),
    "abort": Case("import os\nos.abort()", "crashed: signal"),
    "deep recursion": Case("def f(): f()\nf()", "RecursionError"),
    "sleeps for ever": Case("import time\ntime.sleep(1e9)", "time limit of 1 s", _WALL),
    "deeply nested source": Case("x = " + "(" * 90_000, "SyntaxError"),
    "10^9 qubits": Case("from qiskit import QuantumCircuit\ncircuit = QuantumCircuit(10**9)", "circuit needs a register of 1000000000 bits", kind="unsupported_operation"),
    "garbage on the result pipe": Case(_RESULT_FD + "for fd in fds: os.write(fd, b'garbage' * 100)", "crashed: bad result"),
    "forged counts that do not add up": Case(
        _RESULT_FD + "import json\nd = json.dumps({'ok': True, 'counts': {'1': 99}, 'registers': [{'name': 'c', 'size': 1}],"
        " 'warnings': [], 'circuit_sha256': None, 'circuit_info': {}}).encode()\n"
        "for fd in fds: os.write(fd, len(d).to_bytes(4, 'little') + d)",
        "crashed: bad result",
    ),
    "NaN as a count": Case(
        _RESULT_FD + "d = b'{\"ok\": true, \"counts\": {\"1\": NaN}}'\n"
        "for fd in fds: os.write(fd, len(d).to_bytes(4, 'little') + d)",
        "crashed: bad result",
    ),
    "forged text that is none": Case(
        _RESULT_FD + "d = b'{\"ok\": true, \"value\": [\"\\\\ud800\"], \"warnings\": []}'\n"
        "for fd in fds: os.write(fd, len(d).to_bytes(4, 'little') + d)",
        "crashed: bad result (a lone surrogate)",
    ),
    "poisons the standard library": Case(
        "import json, os, sys\njson.dumps = os.write = os._exit = None\nsys.stdout = None\nraise ValueError('seen')", "seen"
    ),
    "an error that cannot be shown": Case(
        "class E(Exception):\n  def __str__(self): raise MemoryError\nraise E", "E"
    ),
    "an error of a million characters": Case("raise ValueError('x' * 1_000_000)", "ValueError: xxx"),
    "an error with a lone surrogate": Case("raise ValueError('\\ud800\\0')", "ValueError"),
}  # fmt: skip

# What only a user and namespaces of its own prevent; the code reports what it could do.
ESCAPES: dict[str, str] = {
    "kills the parent": "os.kill(os.getppid(), 9)",
    "kills the executor": "os.kill(params['executor'], 9)",
    "reads the parent's environment": "open(f'/proc/{os.getppid()}/environ').read()",
    "reads the executor's environment": "open(f'/proc/{params[\"executor\"]}/environ').read()",
    "reads the executor's memory": "open(f'/proc/{params[\"executor\"]}/mem')",
    "traces the parent": "open(f'/proc/{os.getppid()}/mem')",
    "connects to the executor": "socket.create_connection(('127.0.0.1', params['port']), 2)",
    "reads the password file": "open('/etc/shadow').read()",
    "reads the project": "open(params['project']).read()",
    "writes a library": "open(json.__file__, 'a')",
    "writes to the root": "open('/owned', 'w')",
    "becomes root": "os.setuid(0)",
    "raises its limits": "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
    "mounts": "ctypes.CDLL(None, use_errno=True).mount(b'none', b'/tmp', b'tmpfs', 0, b'') == 0 or fail()",
    "reads a host file through init": "open('/proc/1/root/etc/shadow')",
}


@dataclass(frozen=True)
class Seen:
    """How a case ended, and the Bell pair after it."""

    answer: Answer
    health: str
    after: Answer


@pytest.fixture(scope="module")
def seen(executor: Executor) -> dict[str, Seen]:
    """Every case's ending."""

    def play(names: list[str]) -> dict[str, Seen]:
        ends = {
            name: (executor.run(python(CASES[name].code), wall=CASES[name].wall), executor.health()["status"])
            for name in names
        }
        after = executor.run(qasm(BELL))
        return {name: Seen(answer, health, after) for name, (answer, health) in ends.items()}

    names = list(CASES)
    with ThreadPoolExecutor(3) as pool:
        groups = pool.map(play, [names[start : start + GROUP] for start in range(0, len(names), GROUP)])
        return {name: found for group in groups for name, found in group.items()}


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_run_fails_with_a_reason_and_the_next_run_succeeds(seen: dict[str, Seen], name: str) -> None:
    case, found = CASES[name], seen[name]
    assert found.answer.lines[0]["accepted"]["run_id"] == "test"
    assert case.message in found.answer.error["message"]
    assert found.answer.error["code"] == case.kind
    assert len(found.answer.error["message"].encode()) <= 4096
    assert found.health == "ok"
    assert set(found.after.result["counts"]) <= {"00", "11"}


def test_a_long_run_sends_a_beat(seen: dict[str, Seen]) -> None:
    assert {"beat": {}} in seen["endless loop"].answer.lines


def test_a_run_leaves_the_processors_to_the_service_first_and_cannot_change_that(executor: Executor) -> None:
    code = "import os\nprint(os.nice({}))\nfrom qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1)"
    assert executor.run(python(code.format(0))).result["stdout"] == "5\n"
    refused = executor.run(python(code.format(-1))).outcome
    assert "PermissionError" in refused["error"]["message"]


def test_output_is_cut_at_256_kib_with_a_warning(executor: Executor) -> None:
    code = "from qiskit import QuantumCircuit\nprint('x' * 1_000_000)\ncircuit = QuantumCircuit(1)"
    result = executor.run(python(code)).result
    assert len(result["stdout"]) == 256 * 1024
    assert "output was cut after 256 KiB" in result["warnings"]


def test_a_run_reaches_nothing_outside_its_sandbox(executor: Executor) -> None:
    if executor.health()["sandbox"]["isolation"] != "namespaces":
        pytest.skip("this machine does not give namespaces: needs root or CAP_SYS_ADMIN")
    attacks = "".join(
        f"def attack():\n    return {attack}\n"
        f"try:\n    attack()\n    print({name!r})\nexcept (OSError, ValueError):\n    pass\n"
        for name, attack in ESCAPES.items()
        if name != "kills the parent"
    )
    code = (
        "import ctypes, json, os, resource, socket\nfrom qiskit import QuantumCircuit\n"
        "def fail():\n    raise OSError\n" + attacks + "circuit = QuantumCircuit(1)"
    )
    port = executor.http.base_url.port
    answer = executor.run(
        python(code), params={"executor": executor.process.pid, "port": port, "project": str(FOLDER / "pyproject.toml")}
    )
    assert answer.result.get("stdout", "") == ""


def test_killing_the_parent_stops_only_the_run_itself(executor: Executor) -> None:
    answer = executor.run(python("import os\nos.kill(os.getppid(), 9)\nwhile True: pass"), wall=_WALL)
    assert answer.lines[-1]["outcome"]["status"] == "failed"
    assert executor.health()["status"] == "ok"
    assert set(executor.run(qasm(BELL)).result["counts"]) <= {"00", "11"}


def test_the_environment_and_descriptors_hold_nothing_of_the_executor(executor: Executor) -> None:
    code = (
        "import os\nfrom qiskit import QuantumCircuit\n"
        "print('EXECUTOR' in ' '.join(os.environ), sorted(fd for fd in range(64) if os.path.exists(f'/proc/self/fd/{fd}')))\n"
        "circuit = QuantumCircuit(1)"
    )
    printed = executor.run(python(code)).result["stdout"]
    assert printed.startswith("False")
    assert len(printed.split("[")[1].split(",")) == 4, "standard streams and the result pipe only"


def test_one_run_leaves_nothing_for_the_next(executor: Executor) -> None:
    # What the first run finds before it plants anything: nothing, or the folder in which the environment itself lies.
    look = "import os\nfrom qiskit import QuantumCircuit\nprint(sorted(os.listdir('.')))\ncircuit = QuantumCircuit(1)\n"
    plant = look + "open('left', 'w').write('x')\nos.makedirs('a/b')\nos.chmod('a', 0)\n"
    planted = executor.run(python(plant)).result
    assert planted["counts"] == {"0": 100}
    assert "left" not in planted["stdout"]
    assert executor.run(python(look)).result["stdout"] == planted["stdout"]


def test_a_state_that_cannot_fit_is_refused_before_it_is_allocated(executor: Executor) -> None:
    source = qasm('OPENQASM 3.0; include "stdgates.inc"; qubit[32] q; h q;')
    error = executor.run(source, max_qubits=64).error
    assert "a state of 32 qubits needs 64 GiB, limit" in error["message"]
