"""The launcher keeps the rights and obeys only its shell; the shell speaks to the network and has no right left."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qjs_executor.job import GIB, PARKED_MAX, Isolation
from qjs_executor.launcher.handover import Handover
from qjs_executor.launcher.orders import ANSWER_BYTES_MAX, ISOLATIONS, SETS, Kind, Order

from ..support.executor import BELL, FOLDER, TOKEN, Executor, descendants, eventually, qasm
from ..support.lanes import long
from ..support.launched import orders_to_launcher
from ..support.ordinary_user import as_ordinary_user, with_python_open_to_all
from ..support.processes import left_by, status

STRANGER = 65_530
"""A user that no executor gives out."""
UNFIT: Isolation = "landlock" if os.getuid() == 0 else "uid"

as_root = pytest.mark.skipif(os.getuid() != 0, reason="an ordinary user's executor has no rights to give up")


@as_root
def test_the_shell_of_root_has_a_user_of_its_own_and_no_right(executor: Executor) -> None:
    shell = status(executor.shell)
    users = set(shell["Uid"].split()) | set(shell["Gid"].split())
    assert len(users) == 1
    assert 60_000 <= int(users.pop()) < 65_536
    assert shell["Groups"] == ""
    assert {shell[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert shell["NoNewPrivs"] == "1"
    assert status(executor.process.pid)["Uid"].split()[0] == "0"


def test_the_shell_of_an_ordinary_user_cannot_gain_privileges_either(attacked: Executor) -> None:
    assert status(attacked.shell)["NoNewPrivs"] == "1"
    assert status(attacked.shell)["CapEff"] == "0" * 16


@as_root
def test_no_run_gets_the_user_of_the_shell() -> None:
    with orders_to_launcher() as (_, _, handover):
        first, stop = handover.users
        assert handover.shell_user is not None
        assert 0 < first < stop <= handover.shell_user


@as_root
def test_the_secret_is_in_no_environment_but_the_launchers(executor: Executor) -> None:
    for pid in descendants(executor.process.pid):
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue  # It exited meanwhile.
        assert b"TOKEN" not in environment
        assert TOKEN.encode() not in environment


# Confines itself as the shell does and prints what worked that must not.
_AS_THE_SHELL = """
import os, resource, sys
from qjs_executor.launcher.handover import Handover
from qjs_executor.service.serving import _give_up_files
from qjs_executor.service.shell import TASKS_MAX, _confine
from qjs_executor.settings import read_settings
launcher, shell, user, folder = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
_confine(Handover(read_settings(os.environ), os.getppid(), [], 0, (0, 0), user or None, folder, "none", ""))
_give_up_files()
attempts = {
    f"{name} of {pid}": (lambda pid=pid, name=name: open(f"/proc/{pid}/{name}", "rb").read(1))
    for pid in (launcher, shell) for name in ("environ", "mem", "maps", "auxv")
}
attempts["descriptors"] = lambda: os.listdir(f"/proc/{launcher}/fd")
attempts["shadow"] = lambda: open("/etc/shadow")
attempts["passwd"] = lambda: open("/etc/passwd")
attempts["library"] = lambda: open(os.__file__, "a")
attempts["homes"] = lambda: os.listdir("/home")
attempts["root"] = lambda: os.setuid(0)
for place in ("/", "/tmp", "/dev/shm", "/var/tmp", os.path.dirname(os.__file__)):
    attempts[f"write to {place}"] = lambda place=place: open(f"{place}/owned", "x")
if user:
    attempts["processes"] = lambda: resource.setrlimit(resource.RLIMIT_NPROC, (TASKS_MAX + 1, TASKS_MAX + 1))
    attempts["signal"] = lambda: os.kill(launcher, 0)
    attempts["signal to a zygote"] = lambda: [os.kill(pid, 0) for pid in map(int, sys.argv[5:])]
for name, attempt in attempts.items():
    try:
        attempt()
        print("WORKED", name)
    except (OSError, ValueError):
        pass
print("tried", len(attempts))
"""


def test_the_shells_remaining_rights_reach_neither_launcher_nor_machine(attacked: Executor, tmp_path: Path) -> None:
    ordinary = os.getuid() != 0 or status(attacked.process.pid)["Uid"].split()[0] != "0"
    folder = tempfile.mkdtemp(prefix="shell-")
    os.chmod(folder, 0o711)
    stock = [str(pid) for zygote in attacked.health()["sandbox"]["zygotes"] for pid in zygote["pids"]]
    before = as_ordinary_user() if ordinary and os.getuid() == 0 else []
    user = "0" if ordinary else str(STRANGER)
    arguments = [str(attacked.process.pid), str(attacked.shell), user, folder, *stock]
    try:
        ended = subprocess.run(
            [*before, sys.executable, "-B", "-c", _AS_THE_SHELL, *arguments],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(FOLDER), "EXECUTOR_TOKEN": TOKEN},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.rmdir(folder)
    assert (ended.returncode, "WORKED" in ended.stdout) == (0, False), ended.stdout + ended.stderr
    assert ended.stdout.startswith("tried ")


def _record(kind: int, set_place: int = 0, isolation: int = 0, nothing: int = 0, number: int = 0) -> bytes:
    return bytes([kind, set_place, isolation, nothing]) + number.to_bytes(4, sys.byteorder)


FOREIGN_ISOLATION = ISOLATIONS.index(UNFIT)
HOSTILE: dict[str, tuple[bytes, int]] = {
    "no kind": (_record(0), 0),
    "unknown kind": (_record(7), 0),
    "largest kind": (_record(255), 0),
    "too short": (_record(Kind.KILL_ZYGOTE)[:-1], 0),
    "too long": (_record(Kind.KILL_ZYGOTE, number=1) + b"\0", 0),
    "huge": (b"\1" * 65536, 0),
    "a path": (b"/etc/passwd", 0),
    "a path of the right length": (b"/etc/foo", 0),
    "text": (b'{"kill": 1}', 0),
    "a zygote that never was": (_record(Kind.KILL_ZYGOTE, number=1), 0),
    "the largest number": (_record(Kind.KILL_ZYGOTE, number=2**32 - 1), 0),
    "no number": (_record(Kind.KILL_ZYGOTE), 0),
    "another program's process id": (_record(Kind.KILL_ZYGOTE, number=os.getpid()), 0),
    "a group that never was": (_record(Kind.REMOVE_GROUP, number=1), 0),
    "the death of a group that never was": (_record(Kind.KILL_GROUP, number=1), 0),
    "a question about a group that never was": (_record(Kind.ASK_GROUP, number=7), 0),
    "an unknown set": (_record(Kind.START_ZYGOTE, set_place=len(SETS)), 0),
    "an unknown isolation": (_record(Kind.START_ZYGOTE, isolation=len(ISOLATIONS)), 0),
    "no isolation at all": (_record(Kind.START_ZYGOTE, isolation=ISOLATIONS.index("process")), 0),
    "an isolation that was not offered": (_record(Kind.START_ZYGOTE, isolation=FOREIGN_ISOLATION), 0),
    "a start with a number": (_record(Kind.START_ZYGOTE, number=1), 0),
    "a kill with a set": (_record(Kind.KILL_ZYGOTE, set_place=1, number=1), 0),
    "something in the gap": (_record(Kind.KILL_ZYGOTE, nothing=1, number=1), 0),
    "a start with a descriptor": (_record(Kind.START_ZYGOTE), 1),
    "a group without a descriptor": (_record(Kind.MAKE_GROUP, number=1), 0),
    "a group with many descriptors": (_record(Kind.MAKE_GROUP, number=1), 200),
    "a group of a zygote that never was": (_record(Kind.MAKE_GROUP, number=1), 1),
}


SHORT = (
    *("unknown kind", "too short", "huge", "a path of the right length", "a zygote that never was"),
    *("another program's process id", "an unknown set", "an isolation that was not offered"),
    *("a start with a descriptor", "a group with many descriptors", "a group of a zygote that never was"),
)
"""One for each check of the launcher."""


@pytest.mark.parametrize("name", [name if name in SHORT else long(name) for name in HOSTILE])
def test_an_invalid_order_stops_the_executor_and_does_no_harm(name: str) -> None:
    record, descriptors = HOSTILE[name]
    with orders_to_launcher() as (launcher, orders, _):
        socket.send_fds(orders, [record], [0] * descriptors)
        assert orders.recv(ANSWER_BYTES_MAX) == b"", "it is not answered"
        assert launcher.wait(60) == 0
        assert launcher.stderr is not None
        assert "an invalid order" in launcher.stderr.read()
    assert left_by(launcher.pid) == []


def test_a_shell_that_sends_an_invalid_order_is_killed_and_the_log_says_so() -> None:
    code = """
import os, socket, subprocess, sys
from qjs_executor.launcher import launcher
from qjs_executor.settings import read_settings
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
bad = "import socket, sys, time; s = socket.socket(fileno=int(sys.argv[1])); s.send(b'/etc/foo'); time.sleep(60)"
shell = subprocess.Popen([sys.executable, "-c", bad, str(theirs.fileno())], pass_fds=(theirs.fileno(),))
theirs.close()
sys.exit(launcher.Launcher(read_settings(os.environ), ours).run(shell))
"""
    ended = subprocess.run(
        [sys.executable, "-B", "-c", code],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(FOLDER), "EXECUTOR_TOKEN": TOKEN},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 128 + signal.SIGKILL
    assert "an invalid order" in ended.stderr


def test_the_launcher_stops_reading_from_a_shell_that_does_not_read_its_answers() -> None:
    order = Order(Kind.START_ZYGOTE, isolation=UNFIT).pack()
    with orders_to_launcher(EXECUTOR_ISOLATION=UNFIT) as (launcher, orders, _):
        with pytest.raises(ConnectionError):
            for _ in range(100_000):
                orders.send(order)
        assert launcher.wait(30) == 0
        assert launcher.stderr is not None
        assert "it does not read its answers" in launcher.stderr.read()


def start_zygote(orders: socket.socket, handover: Handover) -> tuple[int, socket.socket, int]:
    """A zygote of the smaller set with the strongest isolation: number, control socket, pidfd."""
    orders.send(Order(Kind.START_ZYGOTE, isolation=handover.isolations[0]).pack())
    data, (control, pidfd), _, _ = socket.recv_fds(orders, ANSWER_BYTES_MAX, 2)
    return json.loads(data)["zygote"], socket.socket(fileno=control), pidfd


def test_only_a_child_of_the_zygote_is_put_into_a_group() -> None:
    before = Path("/proc/self/cgroup").read_text()
    with orders_to_launcher() as (launcher, orders, handover):
        number, control, pidfd = start_zygote(orders, handover)
        mine = os.pidfd_open(os.getpid())
        of_launcher = os.pidfd_open(launcher.pid)
        with control, open("/proc/self/fdinfo/0", encoding="ascii") as file:
            for fd in (mine, of_launcher, pidfd, file.fileno()):
                socket.send_fds(orders, [Order(Kind.MAKE_GROUP, number).pack()], [fd])
                assert "not a live child" in json.loads(orders.recv(ANSWER_BYTES_MAX))["failed"]
        for fd in (mine, of_launcher, pidfd):
            os.close(fd)
        assert [one for one in left_by(launcher.pid) if "cgroup" in one] == []
    assert Path("/proc/self/cgroup").read_text() == before
    assert left_by(launcher.pid) == []


def test_no_more_zygotes_are_started_than_slots_need() -> None:
    with orders_to_launcher(EXECUTOR_SLOTS="1") as (launcher, orders, handover):
        held = [start_zygote(orders, handover) for _ in range(6 + PARKED_MAX)]
        orders.send(Order(Kind.START_ZYGOTE, isolation=handover.isolations[0]).pack())
        assert "too many zygotes" in json.loads(orders.recv(ANSWER_BYTES_MAX))["failed"]
        for number, control, pidfd in held:
            orders.send(Order(Kind.KILL_ZYGOTE, number).pack())
            control.close()
            os.close(pidfd)
        eventually(lambda: descendants(launcher.pid) == [], 60, "they are killed")
        eventually(lambda: left_by(launcher.pid) == [], 60, "their folders are removed")
        orders.send(Order(Kind.KILL_ZYGOTE, held[0][0]).pack())
        number, control, pidfd = start_zygote(orders, handover)
        assert number == len(held) + 1, "no number is given twice, and killing who has ended is no offence"
        control.close()
        os.close(pidfd)


_WITHOUT_PACKAGES = """
from qjs_executor.zygote import preload, warm_up, zygote
preload.preload, warm_up.rehearsals = lambda _: {}, lambda _: []
zygote.main()
"""
"""A zygote that has imported nothing obeys no other orders."""


@as_root
@pytest.mark.parametrize(
    "order",
    [
        {"fork": 0, "uid": 0},
        {"fork": 0, "uid": "SHELL"},
        long({"fork": "../../../tmp/owned", "uid": "FIRST"}),
        long({"fork": -1, "uid": "FIRST"}),
        {"fork": 0, "uid": "FIRST", "folder": "/etc"},
        long({"kill": [1]}),
        long([]),
        "[" * 60_000,
    ],
)
def test_a_zygote_exits_on_an_invalid_order(order: Any, tmp_path: Path) -> None:
    control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-B", "-c", _WITHOUT_PACKAGES, str(theirs.fileno())],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(FOLDER)},
            pass_fds=(theirs.fileno(),),
        )
    first, shell = 60_000, 60_010
    names = {"SHELL": shell, "FIRST": first}
    if isinstance(order, dict):
        order = {name: names.get(value, value) if isinstance(value, str) else value for name, value in order.items()}
    plan = {"isolation": "namespaces", "grouped": True, "memory_bytes": 4 * GIB, "engine_memory_bytes": 4 * GIB}
    try:
        with control:
            control.settimeout(60)
            configuration = {"set": "circuits", "folder": str(tmp_path), "plan": plan, "users": (first, shell)}
            control.send(json.dumps(configuration).encode())
            data, (itself,), _, _ = socket.recv_fds(control, 65536, 1)
            assert "up" in json.loads(data)
            os.close(itself)
            control.send((order if isinstance(order, str) else json.dumps(order)).encode())
            assert control.recv(65536) == b"", "nothing is forked"
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait(5)


@as_root
def test_a_port_below_1024_is_served_by_a_shell_that_could_not_take_it(start: Callable[..., Executor]) -> None:
    limit = int(Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text())
    if limit < 1024:
        pytest.skip("here every user may take such a port")
    for port in range(1023, 900, -1):
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        break
    # Without an isolation that could work it serves at once, and refuses runs.
    executor = start(EXECUTOR_ISOLATION=UNFIT, EXECUTOR_PORT=str(port))
    assert executor.health()["status"] == "insecure"
    assert status(executor.shell)["CapEff"] == "0" * 16


def test_a_port_in_use_fails_the_start_at_once_with_its_number() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        began = time.monotonic()
        ended = subprocess.run(
            [sys.executable, "-B", "-m", "qjs_executor"],
            env={"PYTHONPATH": str(FOLDER), "EXECUTOR_TOKEN": TOKEN, "EXECUTOR_PORT": port},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert f"cannot serve: [Errno 98] 127.0.0.1 port {port}" in json.loads(ended.stderr.splitlines()[-1])["msg"]
    assert time.monotonic() - began < 10


CONTAINER = "-all,+setuid,+setgid,+setpcap,+chown,+kill,+dac_override"
"""The rights that docker-compose.yml grants."""


@as_root
def test_where_the_shells_user_cannot_read_python_the_start_fails_with_the_fix() -> None:
    closed = [str(folder) for folder in Path(os.path.realpath(sys.executable)).parents if not folder.stat().st_mode & 1]
    if not closed:
        pytest.skip("everybody may read the Python of the tests")
    ended = subprocess.run(
        [
            "setpriv",
            f"--bounding-set={CONTAINER}",
            f"--inh-caps={CONTAINER}",
            sys.executable,
            "-B",
            "-m",
            "qjs_executor",
        ],
        env={"PYTHONPATH": str(FOLDER), "EXECUTOR_TOKEN": TOKEN, "EXECUTOR_PORT": "0"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    assert "let all users enter and read Python's folder" in json.loads(ended.stderr.splitlines()[-1])["msg"]


def test_the_launcher_loads_nothing_but_the_standard_library() -> None:
    code = (
        "import sys, qjs_executor.__main__\n"
        "loaded = {name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names - {'qjs_executor', '__main__'}\n"
        "print(sorted(name for name in loaded if not name.startswith('_')), 'asyncio' in sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append({str(FOLDER)!r})\n{code}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert ended.stdout == "[] False\n"


@as_root
def test_with_the_rights_of_the_container_every_run_has_a_user_of_its_own() -> None:
    before = [*with_python_open_to_all(), "setpriv", f"--bounding-set={CONTAINER}", f"--inh-caps={CONTAINER}", "--"]
    executor = Executor(before=before, EXECUTOR_SLOTS="1", EXECUTOR_ISOLATION="uid")
    try:
        assert executor.health()["sandbox"]["level"] == "L2"
        assert executor.run(qasm(BELL)).outcome["status"] == "completed"
        shell = status(executor.shell)
        assert int(shell["Uid"].split()[0]) >= 60_000
        assert {shell[name] for name in ("CapEff", "CapPrm", "CapBnd")} == {"0" * 16}
    finally:
        executor.close()
