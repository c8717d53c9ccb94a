"""A child of a zygote: it is confined first, reports `ready`, then takes one job and the answers to its requests; or it
hosts the tasks of a job, each in a fork of its own. A step that fails ends the process before it has a job.

The order of the steps matters: each takes away what a later one no longer needs. The filter of system calls is last.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys
from dataclasses import dataclass
from typing import Any, NoReturn

from .. import frames
from ..execution_request import ExecutionRequest
from ..isolation import linux, written_pages
from ..isolation.confinement import (
    DESCRIPTORS_MAX,
    FILE_BYTES_MAX,
    PROCESSES_MAX,
    UNGROUPED_DESCRIPTORS_MAX,
    limit,
    limit_processes_of_shared_user,
    prefer_as_memory_victim,
    yield_processor,
)
from ..isolation.landlock import TRUNCATION_ABI, apply_landlock, landlock_abi
from ..isolation.private_root import gpu_devices, mount_own_places, python_prefixes
from ..isolation.process_guard import stand_guard
from ..isolation.seccomp import apply_seccomp
from ..job import WITH_NAMESPACES, Isolation
from ..library_generators import seed_all
from .task_host import host_tasks

JOB_FD, RESULT_FD = 3, 4
_ABOVE_ALL = 64
"""Descriptors are first moved above this number, so that none is overwritten before it reaches its final number."""
CPU_SECONDS_MAX = 1_000
"""Until a job sets its own limit; above the longest wall time that a request may have."""
SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ld.so.cache", "/dev/urandom", "/dev/random", "/proc")
_WRITABLE_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")


@dataclass(frozen=True)
class Plan:
    """How every child of a zygote is confined. Memory is in bytes of address space beyond what is mapped when the child
    is ready: `memory_bytes` for the user's code, `engine_memory_bytes` for the simulation. `grouped`: each child gets a
    control group. `gpu`: each child sees the GPUs of the machine."""

    isolation: Isolation
    grouped: bool
    memory_bytes: int
    engine_memory_bytes: int
    gpu: bool = False


@dataclass(frozen=True)
class Pipes:
    """The child's ends of its pipes."""

    job: int
    result: int
    stdout: int
    stderr: int


def be_child(plan: Plan, uid: int, folder: str, pipes: Pipes, written: list[written_pages.Range] | None) -> NoReturn:
    """Runs in the fresh fork and never returns. `folder` is the child's working directory where it has no /tmp of its
    own. `written` is the memory that executions write; None for a host, whose forks would have more to copy."""
    try:
        if plan.isolation not in WITH_NAMESPACES:
            stand_guard(plan.isolation, uid, folder)
        os.setsid()
        _take_descriptors(pipes)
        layers = _confine(plan, uid, folder)
        _own_environment()
        _own_randomness()
    except BaseException as error:
        with contextlib.suppress(BaseException):
            frames.send(RESULT_FD, frames.pack({"fault": f"cannot confine the run: {error}"}))
        os._exit(1)
    frames.send(RESULT_FD, frames.pack({"ready": {"uid": os.getuid(), "layers": layers}}))
    if written is None:
        host_tasks(RESULT_FD)
    else:
        written_pages.own(written)
    order = frames.receive(JOB_FD)
    if order is None:
        os._exit(0)
    request = ExecutionRequest.parse(order["request"])
    asks = request.script.may_ask
    if not asks:
        os.close(JOB_FD)
    _lower_cpu_limit(order["cpu_seconds"])
    if plan.isolation in ("landlock", "process"):
        limit_processes_of_shared_user()
    frames.send(RESULT_FD, frames.pack({"taken": {"uid": os.getuid()}}))
    from ..child.main import answer

    answer(request, RESULT_FD, JOB_FD if asks else None)


def _take_descriptors(pipes: Pipes) -> None:
    import fcntl

    sources = [os.open("/dev/null", os.O_RDONLY), pipes.stdout, pipes.stderr, pipes.job, pipes.result]
    moved = [fcntl.fcntl(fd, fcntl.F_DUPFD, _ABOVE_ALL) for fd in sources]
    for target, fd in enumerate(moved):
        os.dup2(fd, target, inheritable=target < JOB_FD)
    os.closerange(len(moved), resource.getrlimit(resource.RLIMIT_NOFILE)[1])


def _confine(plan: Plan, uid: int, folder: str) -> list[str]:
    """Gives up every right; returns the names of the layers applied."""
    layers: list[str] = []
    prefer_as_memory_victim()
    if plan.isolation in WITH_NAMESPACES:
        linux.unshare(
            linux.CLONE_NEWNS | linux.CLONE_NEWNET | linux.CLONE_NEWIPC | linux.CLONE_NEWUTS | linux.CLONE_NEWCGROUP
        )
        mount_own_places(uid, uid)
        linux.set_host_name("job")
        layers.append("namespaces")
    else:
        os.chdir(folder)
    if plan.isolation in ("namespaces", "uid"):
        linux.forbid_capabilities()
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        layers.append("user")
    elif plan.isolation == "rootless":
        # The kernel counts a user's processes per user namespace: with its own, an execution takes none of another's.
        linux.enter_user_namespace()
        linux.forbid_capabilities()
        linux.lock_capabilities()
        linux.drop_capabilities()
    _limit_resources(plan)
    layers.append("limits")
    linux.forbid_new_privileges()
    linux.hide_memory()
    linux.die_with_parent()
    if plan.isolation in ("uid", "landlock") or landlock_abi() > 0:
        layers.append(f"landlock {apply_landlock(_readable(), _writable(plan))}")
    try:
        apply_seccomp(
            without_namespaces=plan.isolation not in WITH_NAMESPACES,
            shared_user=plan.isolation == "landlock",
            signal_only_itself=plan.isolation == "landlock" and landlock_abi() < 6,
            truncation_unjudged=plan.isolation == "uid" and landlock_abi() < TRUNCATION_ABI,
        )
        layers.append("seccomp")
    except OSError:
        if plan.isolation != "process":
            raise
    return layers


def _writable(plan: Plan) -> list[str]:
    """/dev/shm is writable only where it is the child's own: in a shared one an execution could leave something for the
    next."""
    own = ["/dev/shm"] if plan.isolation in WITH_NAMESPACES else []
    return [os.getcwd(), *own, *_WRITABLE_DEVICES, *(gpu_devices() if plan.gpu else [])]


def _readable() -> list[str]:
    return [*SYSTEM_FOLDERS, *python_prefixes()]


def _limit_resources(plan: Plan) -> None:
    yield_processor()
    if plan.isolation not in (
        "landlock",
        "process",
    ):  # These also count what else their user runs, as late as possible.
        limit(resource.RLIMIT_NPROC, PROCESSES_MAX)
    limit(resource.RLIMIT_NOFILE, DESCRIPTORS_MAX if plan.grouped else UNGROUPED_DESCRIPTORS_MAX)
    limit(resource.RLIMIT_FSIZE, FILE_BYTES_MAX)
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_MEMLOCK, 64 * 1024)
    limit(resource.RLIMIT_MSGQUEUE, 0)
    limit(resource.RLIMIT_CPU, CPU_SECONDS_MAX, CPU_SECONDS_MAX + 1)
    with open("/proc/self/statm", encoding="ascii") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    # A GPU's driver maps all memory of card and machine; the control group counts what is used of it.
    hard = resource.RLIM_INFINITY if plan.gpu and plan.grouped else mapped + plan.engine_memory_bytes
    limit(resource.RLIMIT_AS, mapped + plan.memory_bytes, hard)


def _lower_cpu_limit(seconds: int) -> None:
    limit(resource.RLIMIT_CPU, seconds, seconds + 1)


def _own_environment() -> None:
    os.environ["HOME"] = os.environ["TMPDIR"] = os.getcwd()
    tempfile: Any = sys.modules.get("tempfile")
    if tempfile is not None:
        tempfile.tempdir = None  # What tempfile found in the zygote does not apply to the child.


def _own_randomness() -> None:
    """Children of one zygote inherit the same state: without this, concurrent executions draw the same samples."""
    seed_all(os.urandom)
