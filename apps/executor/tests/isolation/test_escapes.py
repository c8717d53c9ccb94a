"""What system calls, files and other runs offer to an attacker: every attempt fails, and the executor stays healthy.

Each attempt runs in a child and prints its name when it worked; those of a group share one run. All of it is tried at
every level that this machine offers, as the user of the tests and as an ordinary one.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ..support.escape_tables import (
    BOMBS,
    ELSEWHERE,
    GROUPS,
    NOT_WITHOUT_NAMESPACES,
    PRELUDE,
    WITHOUT_MOUNTS,
)
from ..support.executor import BELL, FOLDER, TOKEN, Executor, eventually, python, qasm
from ..support.lanes import long
from ..support.processes import hold

CIRCUIT = "\nfrom qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1)"
IDS = (
    [f"N{n}" for n in range(1, 13)]
    + [f"F{n}" for n in range(1, 12)]
    + [f"S{n}" for n in range(1, 5)]
    + [f"P{n}" for n in range(1, 6)]
    + [f"K{n}" for n in range(1, 20)]
    + [f"G{n}" for n in range(1, 5)]
    + [f"R{n}" for n in range(1, 15)]
    + [f"C{n}" for n in range(1, 11)]
    + [f"X{n}" for n in range(1, 8)]
    + ["T1", "T2"]
)


def has_namespaces(executor: Executor) -> bool:
    """Whether runs have a list of processes and folders of their own."""
    return str(executor.health()["sandbox"]["level"]).startswith("L3")


def assert_well(executor: Executor) -> None:
    """The executor is healthy and a trivial run succeeds."""
    assert executor.health()["status"] == "ok"
    assert set(executor.run(qasm(BELL)).result["counts"]) <= {"00", "11"}


def printed(executor: Executor, code: str, params: dict[str, Any] | None = None) -> str:
    """What code prints in a run that succeeds."""
    # A search of its whole memory takes seconds of the processor.
    return str(executor.run(python(code + CIRCUIT), wall=600, params=params or {}).result.get("stdout", ""))


@contextmanager
def victims(executor: Executor) -> Iterator[dict[str, Any]]:
    """Facts to attack: a process, a file and sockets that belong to the executor's user."""
    user = os.stat(f"/proc/{executor.process.pid}").st_uid
    with tempfile.TemporaryDirectory(prefix="victim-") as folder:
        file = Path(folder, "file")
        file.write_text("whole")
        paths = [f"{folder}/stream", f"{folder}/datagram", "\0qjs-victim-stream", "\0qjs-victim-datagram"]
        sockets = [
            socket.socket(socket.AF_UNIX, socket.SOCK_STREAM if "stream" in path else socket.SOCK_DGRAM)
            for path in paths
        ]
        for one, path in zip(sockets, paths, strict=True):
            one.bind(path)
            if one.type == socket.SOCK_STREAM:
                one.listen()
        if os.getuid() == 0:
            for path in (folder, str(file), *paths[:2]):
                os.chown(path, user, user)
        process = subprocess.Popen(["sleep", "600"], user=user if os.getuid() == 0 else None)
        try:
            yield {
                "executor": executor.process.pid,
                "shell": executor.shell,
                "port": executor.http.base_url.port,
                "pathname": paths[0],
                "pathname_datagram": paths[1],
                "abstract": "qjs-victim-stream",
                "abstract_datagram": "qjs-victim-datagram",
                "project": str(FOLDER / "pyproject.toml"),
                "tests": str(FOLDER / "tests" / "conftest.py"),
                "secret": TOKEN[::-1],
                "victim": process.pid,
                "victim_file": str(file),
            }
            assert process.poll() is None, "somebody else's process survives"
            assert file.read_text() == "whole"
            assert (file.stat().st_mode & 0o777, file.stat().st_uid) == (0o644, user)
        finally:
            process.kill()
            process.wait(5)
            for one in sockets:
                one.close()


@pytest.mark.parametrize("group", GROUPS)
def test_every_attempt_to_escape_fails(attacked: Executor, group: str) -> None:
    attempts = "".join(f"attempt({name!r}, lambda: {attack})\n" for name, attack in GROUPS[group].items())
    with victims(attacked) as params:
        lines = printed(attacked, PRELUDE + attempts, params).splitlines()
    lost = set() if has_namespaces(attacked) else {name for name in NOT_WITHOUT_NAMESPACES if name in GROUPS[group]}
    assert set(lines) <= {f"WORKED {name}" for name in lost}
    assert_well(attacked)


@pytest.mark.parametrize("name", [long(name) if name.startswith("R4 ") else name for name in BOMBS])
def test_a_bomb_is_bounded(attacked: Executor, name: str) -> None:
    bomb = BOMBS[name]
    error = attacked.run(python(bomb.code), wall=bomb.wall).lines[-1]["outcome"]
    message = bomb.message if has_namespaces(attacked) else WITHOUT_MOUNTS.get(name, bomb.message)
    assert error["status"] == "failed", error
    assert message.lower() in error["error"]["message"].lower()
    assert_well(attacked)
    eventually(lambda: attacked.descendants() == [], 60, "no process of a run is left")


def test_two_runs_at_once_neither_see_nor_meet_each_other(attacked: Executor) -> None:
    host = (
        "import os, socket, time\n"
        "try:\n  s = socket.socket(socket.AF_UNIX)\n  s.bind('\\0meet')\n  s.listen()\nexcept OSError: pass\n"
        "for folder in ('.', '/tmp', '/dev/shm'):\n  try: open(folder + '/here', 'w').close()\n  except OSError: pass\n"
        "while True: time.sleep(1)"
    )
    guest = (
        "import os, socket\n"
        "try:\n  socket.socket(socket.AF_UNIX).connect('\\0meet')\n  print('MET')\nexcept OSError: pass\n"
        "print([folder for folder in ('.', '/tmp', '/dev/shm') if os.path.exists(folder + '/here')])\n"
        "others = [p for p in os.listdir('/proc') if p.isdigit() and int(p) != os.getpid()]\n"
        "for p in others:\n  try: os.kill(int(p), 0)\n  except OSError: continue\n  print('REACHED', p)\n"
        "print(len(others))"
    )
    hang_up = hold(attacked, python(host))
    eventually(lambda: len(attacked.descendants()) >= 1, 60, "the first run is alive")
    found, seen = printed(attacked, guest).splitlines()
    assert attacked.health()["slots"]["running"] == 1, "the first run is alive"
    hang_up()
    assert found == "[]"
    assert seen == "0" or not has_namespaces(attacked)
    assert_well(attacked)


def test_one_run_cannot_starve_another_of_processes(attacked: Executor) -> None:
    bomb = "import os, time\nwhile True:\n  try: os.fork()\n  except OSError: time.sleep(0.01)"
    hang_up = hold(attacked, python(bomb))
    eventually(lambda: len(attacked.descendants()) > 30, 60, "the first run has many processes")
    code = (
        "import threading\nfrom qiskit import QuantumCircuit, transpile\n"
        "threads = [threading.Thread(target=sum, args=([1],)) for _ in range(9)]\n"
        "for thread in threads: thread.start()\n"
        "circuit = transpile(QuantumCircuit(2), basis_gates=['rz', 'sx', 'cx'])"
    )
    assert attacked.run(python(code)).result["counts"] == {"00": 100}
    assert attacked.health()["slots"]["running"] == 1, "the first run is alive"
    hang_up()
    eventually(lambda: attacked.descendants() == [], 60, "no process of a run is left")


def test_the_standard_library_still_works(attacked: Executor) -> None:
    code = (
        "import asyncio, multiprocessing, socket, subprocess, sys, tempfile, threading\n"
        "async def main_loop(): await asyncio.sleep(0)\nasyncio.run(main_loop())\n"
        "left, right = socket.socketpair()\nleft.send(b'x')\nassert right.recv(1) == b'x'\n"
        "thread = threading.Thread(target=print, args=('thread',))\nthread.start()\nthread.join()\n"
        "with tempfile.TemporaryFile() as f: f.write(b'x')\n"
        "print(subprocess.run(['/bin/echo', 'process'], capture_output=True, text=True).stdout.strip())\n"
        "import os\nchild = os.fork()\nos._exit(7) if child == 0 else print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    assert printed(attacked, code).split() == ["thread", "process", "7"]
    if has_namespaces(attacked):
        assert printed(attacked, "import multiprocessing\nwith multiprocessing.Lock(): print('locked')") == "locked\n"


def test_memory_holds_no_secret_and_no_earlier_job(attacked: Executor) -> None:
    marker = os.urandom(12).hex()
    printed(attacked, f"kept = {marker!r}")
    scan = (
        "import ctypes\n"
        "found = []\n"
        "for line in open('/proc/self/maps'):\n"
        "  span, rights = line.split()[:2]\n"
        "  start, end = (int(part, 16) for part in span.split('-'))\n"
        "  if not rights.startswith('rw') or end - start > 1 << 28: continue\n"
        "  data = ctypes.string_at(start, end - start)\n"
        "  for first, second in params['halves']:\n"
        "    place = data.find(first.encode())\n"
        "    while place >= 0:\n"
        "      if data[place + len(first) : place + len(first) + len(second)] == second.encode(): found.append(line)\n"
        "      place = data.find(first.encode(), place + 1)\n"
        "del data\nprint(len(found))"
    )
    halves = [[text[: len(text) // 2], text[len(text) // 2 :]] for text in (TOKEN, marker)]
    assert printed(attacked, scan, {"halves": halves}) == "0\n"
    present = "import ctypes\nwhole = bytearray(params['halves'][1][0] + params['halves'][1][1], 'ascii')\n"
    assert int(printed(attacked, present + scan, {"halves": halves})) >= 1, "the search finds what is there"


def test_odd_file_names_do_no_harm(attacked: Executor) -> None:
    code = (
        "import os\n"
        "for name in ('\\u202egnp.exe', 'a\\nb', 'x' * 255, '-rf', ' ', '\\x01', 'é' * 100):\n"
        "  os.mkdir(name)\n  open(os.path.join(name, name[:200]), 'w').close()\n  os.chmod(name, 0) if params['chmod'] else None\n"
        "deep = '.'\n"
        "while len(deep) < params['depth']: deep += '/d'; os.mkdir(deep)\n"
        "print(os.getcwd())"
    )
    folder = printed(
        attacked, code, {"chmod": has_namespaces(attacked), "depth": 3000 if has_namespaces(attacked) else 200}
    ).strip()
    assert_well(attacked)
    if not has_namespaces(attacked):
        eventually(lambda: not os.path.exists(folder), 60, "the run's folder is gone")


def test_a_run_leaves_nothing_for_the_next(attacked: Executor) -> None:
    poison = (
        "import atexit, builtins, json, os, random, sys, threading, time, numpy\n"
        "json.dumps = numpy.zeros = None\n"
        "class Hook:\n  def find_spec(self, *a): print('HOOKED')\nsys.meta_path.insert(0, Hook())\n"
        "for name in ('sitecustomize.py', 'usercustomize.py', 'numpy.py', 'x.pth'):\n"
        "  open(name, 'w').write('print(\"POISONED\")')\n"
        "os.environ['LD_PRELOAD'] = '/tmp/x.so'\nos.environ['PYTHONPATH'] = os.getcwd()\n"
        "atexit.register(print, 'LEFT')\nthreading.Thread(target=time.sleep, args=(99,), daemon=True).start()\n"
        "random.seed(0)\nnumpy.random.seed(0)\nbuiltins.len = None\n"
    )
    clean = (
        "import builtins, json, os, random, sys, numpy\n"
        "assert json.dumps and numpy.zeros and len([1]) == 1\n"
        "assert 'LD_PRELOAD' not in os.environ and 'PYTHONPATH' not in os.environ\n"
        "assert not [name for name in ('sitecustomize.py', 'numpy.py') if os.path.exists(name)]\n"
        "import colorsys, stringprep\n"
        "print(numpy.random.randint(1 << 60) == numpy.random.RandomState(0).randint(1 << 60), random.random() == random.Random(0).random())"
    )
    attacked.run(python(poison + CIRCUIT), wall=5)
    assert printed(attacked, clean) == "False False\n"


CHAIN = "a process that replaces itself again and again"
DAEMONS = {
    "a double fork": "import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0: time.sleep(1000)\n  os._exit(0)\n",
    CHAIN: ("import os\nif os.fork() == 0:\n  os.setsid()\n  while True:\n    if os.fork() != 0: os._exit(0)\n"),
    "fifty at once": "import os, time\nfor _ in range(50):\n  if os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\n",
    "one that ignores signals": (
        "import os, signal, time\nif os.fork() == 0:\n  os.setsid()\n"
        "  for n in range(1, 32):\n    try: signal.signal(n, signal.SIG_IGN)\n    except OSError: pass\n  time.sleep(1000)\n"
    ),
}


@pytest.mark.parametrize("name", DAEMONS)
def test_a_daemon_ends_with_its_run(attacked: Executor, name: str) -> None:
    answer = attacked.run(python(DAEMONS[name] + CIRCUIT))
    # The chain's processes are not reaped, so it soon meets the limit of processes, and the error may be the whole
    # run's.
    if name != CHAIN or answer.outcome["status"] == "completed":
        assert answer.result["counts"] == {"0": 100}
    eventually(lambda: attacked.descendants() == [], 60, "no process of a run is left")
    assert_well(attacked)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("x = '\0'", 400),
        ("x = '\\ud800'", 200),
        ("\ufeffx = 1", 200),
        ("# -*- coding: latin-1 -*-\r\nx = 'é'\r\n", 200),
        ("x = '" + "\U0001d11e" * 100_000 + "'", 200),
    ],
    ids=["NUL", "escaped surrogate", "byte order mark", "coding cookie and CRLF", "100,000 astral characters"],
)
def test_odd_text_runs_or_is_refused(attacked: Executor, code: str, status: int) -> None:
    answer = attacked.run(python(code + CIRCUIT))
    assert answer.status == status
    if status == 200:
        assert answer.lines[-1]["outcome"]["status"] in ("completed", "failed")
    assert_well(attacked)


def test_a_lone_surrogate_is_refused(attacked: Executor) -> None:
    body = '{"run_id":"t","source":{"kind":"code","framework":"qiskit","code":"x = \'\\ud800\'"}}'
    answer = attacked.http.post("/run", content=body)
    assert answer.status_code == 400
    assert "surrogate" in answer.json()["error"]["message"]


def test_bytes_in_the_output_that_are_not_text_are_replaced(attacked: Executor) -> None:
    assert "\ufffd" in printed(attacked, "import os\nos.write(1, b'\\xff\\xfe')")


def test_every_case_of_the_list_is_tried() -> None:
    names = [name for group in GROUPS.values() for name in group] + list(BOMBS) + list(ELSEWHERE)
    tried = {found.group() for name in names if (found := re.match(r"[A-Z]\d+", name))}
    assert tried == set(IDS)
