"""Which isolation is taken, what happens where none works, and what holds users and folders together without help of
the kernel."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qjs_executor.isolation import machine
from qjs_executor.isolation.cgroups import Step, group_settings, steps_to_hand_down
from qjs_executor.isolation.owner import is_dead, owner_name
from qjs_executor.isolation.users import UserRange
from qjs_executor.isolation.work_folder import make_work_folder, remove_leftovers, remove_tree
from qjs_executor.job import GIB, SandboxFault

from ..support.executor import BELL, FOLDER, Executor, ordinary_executor, python, qasm

UNFIT = "landlock" if os.getuid() == 0 else "uid"
"""A kind of isolation that the user of the tests cannot have."""


def test_an_ordinary_user_gets_isolation_with_and_without_namespaces(attacked: Executor) -> None:
    sandbox = attacked.health()["sandbox"]
    assert (sandbox["isolation"], sandbox["level"]) in {
        ("namespaces", "L3"),
        ("rootless", "L3-rootless"),
        ("landlock", "L2"),
        ("uid", "L2"),
    }
    assert all(finding["ok"] for finding in sandbox["selftest"])
    assert attacked.health()["status"] == "ok"


def test_without_adequate_isolation_every_run_is_refused_with_the_fix(start: Callable[..., Executor]) -> None:
    executor = start(EXECUTOR_ISOLATION=UNFIT)
    health = executor.health()
    assert (health["status"], health["sandbox"]["level"], health["sandbox"]["isolation"]) == (
        "insecure",
        "none",
        "none",
    )
    assert "SANDBOX_ALLOW_INSECURE" in health["sandbox"]["problem"]
    assert "use the container" in health["sandbox"]["problem"]
    for path, body in (("/run", executor.request(qasm(BELL))), ("/convert", {"source": qasm(BELL)})):
        answer = executor.http.post(path, json=body)
        assert answer.status_code == 503, path
        assert answer.json()["error"]["code"] == "worker_not_configured"
        assert UNFIT in answer.json()["error"]["message"]


def test_runs_without_isolation_need_the_setting_and_carry_a_warning(start: Callable[..., Executor]) -> None:
    if os.getuid() == 0:
        executor = ordinary_executor(landlock=True, EXECUTOR_ISOLATION="uid", SANDBOX_ALLOW_INSECURE="1")
    else:
        executor = start(EXECUTOR_ISOLATION=UNFIT, SANDBOX_ALLOW_INSECURE="1")
    try:
        health = executor.health()
        assert (health["status"], health["sandbox"]["level"]) == ("insecure", "none")
        assert "without isolation" in health["sandbox"]["warning"]
        assert health["sandbox"]["problem"]
        result = executor.run(qasm(BELL)).result
        assert set(result["counts"]) <= {"00", "11"}
        assert result["warnings"] == [health["sandbox"]["warning"]]
        assert executor.run(python("while True: pass"), wall=1).error["message"] == "time limit of 1 s"
    finally:
        executor.close()


def test_a_process_moves_to_a_leaf_before_its_group_delegates_controllers() -> None:
    steps = steps_to_hand_down("/own", {"memory", "pids", "cpu", "io"}, 7)
    assert steps == [
        Step("/own/qjs-executor"),
        Step("/own/qjs-executor/cgroup.procs", "7"),
        Step("/own/cgroup.subtree_control", "+memory +pids +cpu"),
    ]
    assert steps_to_hand_down("/own", {"memory", "pids"}, 7)[-1].text == "+memory +pids"


@pytest.mark.parametrize("given", [set(), {"cpu"}, {"memory", "cpu"}, {"pids"}])
def test_a_group_without_memory_or_processes_is_not_used(given: set[str]) -> None:
    assert steps_to_hand_down("/own", given, 7) == []


@pytest.mark.parametrize("kind", ["v1", "v2"])
def test_a_group_bounds_memory_processes_and_processor(kind: Any) -> None:
    settings = group_settings(kind, 5 * GIB)
    assert str(5 * GIB) in settings["memory"].values()
    assert settings["pids"] == {"pids.max": "64"}
    assert "100000" in next(iter(settings["cpu"].values()))
    # The kernel's defaults are 100 and 1024, also for the processes of the service.
    assert settings["cpu"]["cpu.weight" if kind == "v2" else "cpu.shares"] == ("10" if kind == "v2" else "102")
    if kind == "v2":
        assert settings["memory"]["memory.swap.max"] == "0"
        assert settings["memory"]["memory.oom.group"] == "1"
    else:
        # The kernel refuses a sum of memory and swap below the memory alone, so the order matters.
        assert list(settings["memory"].items()) == [
            ("memory.limit_in_bytes", str(5 * GIB)),
            ("memory.memsw.limit_in_bytes", str(5 * GIB)),
        ]


def test_an_owner_is_identified_by_its_process_id_and_start_time() -> None:
    pid, started = owner_name().split("-")
    assert not is_dead(f"{owner_name()}-rest")
    assert is_dead(f"{pid}-{int(started) + 1}-rest"), "the id was given to another process since"
    assert is_dead("4194305-1-rest"), "no process has such an id"
    assert not is_dead("executor")


def test_two_executors_never_give_runs_the_same_users() -> None:
    first, second = UserRange(), UserRange()
    assert set(first.users).isdisjoint(second.users)
    taken = first.users
    first.close()
    third = UserRange()
    assert third.users == taken, "a range that is given back is free again"
    third.close()
    second.close()


def test_only_folders_of_dead_executors_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    living = Path(make_work_folder())
    (living / "0").mkdir()
    dead = tmp_path / "qjs-pool-4194305-1-abc"
    (dead / "0" / "deep").mkdir(parents=True)
    (dead / "0" / "file").write_text("left")
    (tmp_path / "qjs-pool-4194305-1-link").symlink_to(living)
    (tmp_path / "qjs-pool-other").mkdir()
    remove_leftovers()
    assert not dead.exists()
    assert (living / "0").exists()
    assert (tmp_path / "qjs-pool-other").exists()


def test_a_folder_is_removed_whatever_its_depth_and_content(tmp_path: Path) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    (folder / "a\nb").mkdir()
    (folder / "closed").mkdir()
    (folder / "closed" / "file").write_text("x")
    (folder / "closed").chmod(0)
    home = os.getcwd()
    os.chdir(folder)
    try:
        for _ in range(1500):
            os.mkdir("a-name-that-makes-the-path-longer-than-any-path-may-be")
            os.chdir("a-name-that-makes-the-path-longer-than-any-path-may-be")
    finally:
        os.chdir(home)
    remove_tree(str(folder), 60)
    assert not folder.exists()
    assert (outside / "kept").exists()


@pytest.mark.parametrize("abi", [1, 2])
def test_landlock_without_a_right_to_truncate_is_refused_for_the_executors_own_user(
    monkeypatch: pytest.MonkeyPatch, abi: int
) -> None:
    # The kernel of the tests has one version only.
    monkeypatch.setattr(machine, "landlock_abi", lambda: abi)
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    with pytest.raises(SandboxFault, match=r"cannot refuse to truncate files \(Linux 6.2"):
        machine.check_expected("landlock")
    assert "6.2 or later" in machine.how_to_fix()


def test_where_landlock_does_not_judge_truncation_the_filter_does(tmp_path: Path) -> None:
    code = """
import os, sys
from qjs_executor.isolation import linux, seccomp
linux.forbid_new_privileges()
seccomp.apply_seccomp(without_namespaces=True, truncation_unjudged=True)
for name, attack in {
    "truncate": lambda: os.truncate(sys.argv[1], 0),
    "reading": lambda: os.open(sys.argv[1], os.O_RDONLY | os.O_TRUNC),
    "neither": lambda: os.open(sys.argv[1], os.O_ACCMODE | os.O_TRUNC),
}.items():
    try:
        attack()
        print("WORKED", name)
    except PermissionError:
        pass
print(open(sys.argv[1]).read())
open(sys.argv[1], "w").close()
with open(sys.argv[1], "r+") as file: file.truncate(7)
"""
    file = tmp_path / "file"
    file.write_text("whole")
    ended = subprocess.run(
        [sys.executable, "-c", code, str(file)],
        env={"PYTHONPATH": str(FOLDER)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "whole\n", "")
    assert file.stat().st_size == 7, "a file that is open for writing can be truncated"


def test_where_landlock_does_not_bound_signals_the_filter_does() -> None:
    code = """
import ctypes, fcntl, os, resource, signal, sys
from qjs_executor.isolation import linux, seccomp
victim = int(sys.argv[1])
linux.forbid_new_privileges()
seccomp.apply_seccomp(without_namespaces=True, shared_user=True, signal_only_itself=True)
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    if libc.syscall(*[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]) < 0:
        raise OSError(ctypes.get_errno(), "")
info = bytes([9, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255]) + bytes(116)
attacks = {
    "kill": lambda: os.kill(victim, 9),
    "kill everybody": lambda: os.kill(-1, 0),
    "kill a group": lambda: os.kill(-victim, 0),
    "tkill": lambda: call(200, victim, 9),
    "tgkill": lambda: call(234, victim, victim, 9),
    "rt_sigqueueinfo": lambda: call(129, victim, 9, info),
    "rt_tgsigqueueinfo": lambda: call(297, victim, victim, 9, info),
    "pidfd": lambda: signal.pidfd_send_signal(os.pidfd_open(victim), 9),
    "owner of a file": lambda: fcntl.fcntl(0, fcntl.F_SETOWN, victim),
    "signal of a file": lambda: fcntl.fcntl(0, 10, 9),
    "limits": lambda: resource.prlimit(victim, resource.RLIMIT_CPU, (0, 0)),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, victim, 19),
    "priority of a user": lambda: os.setpriority(os.PRIO_USER, 0, 19),
    "processors": lambda: os.sched_setaffinity(victim, {0}),
    "mode": lambda: os.chmod(sys.argv[2], 0o777),
}
for name, attack in attacks.items():
    try:
        attack()
        print("WORKED", name)
    except PermissionError:
        pass
os.kill(os.getpid(), 0)
os.kill(0, 0)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
os.sched_setaffinity(0, os.sched_getaffinity(0))
"""
    if os.uname().machine != "x86_64":
        pytest.skip("the numbers of the calls are those of x86-64")
    victim = subprocess.Popen(["sleep", "60"])
    try:
        ended = subprocess.run(
            [sys.executable, "-c", code, str(victim.pid), __file__],
            env={"PYTHONPATH": str(FOLDER)},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            start_new_session=True,
        )
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait(5)
